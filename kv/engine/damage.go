package engine

import (
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// damaged are the files of tables in which a block was bad. The reads that meet one fail, and nothing else does: a table is one of hundreds, and a node
// that stops at a read stops again at the next start's.
type damaged struct {
	mu    sync.Mutex
	files []string
}

// maxDamaged bounds the files that are remembered, and named.
const maxDamaged = 20

// note remembers a file and says so once.
func (d *damaged) note(path string, log *slog.Logger, err error) {
	name := filepath.Base(path)
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.files) == maxDamaged || slices.Contains(d.files, name) {
		return
	}
	d.files = append(d.files, name)
	log.Error("a file of the store is damaged: reads that need it fail, all others go on; see which tables are hit with CHECK TABLE, "+
		"and restore them from a backup", "file", path, "error", err)
}

// String is for errors of reads.
func (d *damaged) String() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.files) == 0 {
		return "a file of the store is damaged"
	}
	return "damaged in the store: " + strings.Join(d.files, ", ") + "; restore the table from a backup"
}
