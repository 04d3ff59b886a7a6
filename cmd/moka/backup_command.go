package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"moka/cmd/moka/backup"
)

func backupCommand() *cobra.Command {
	var to string
	var incremental bool
	var rate int
	from := &asked{}
	cmd := &cobra.Command{
		Use: "backup", Short: "Take a backup of a running database", Args: cobra.NoArgs,
		Long: `Takes what a running database holds at one timestamp, while it goes on: all tables, the
catalog, accounts, settings that were persisted, observers and what they have still to do. The directory must
be new or empty; with --incremental it is one with a backup of this database, and gets what has changed
since its last one. What was begun and not finished is no backup.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if to == "" {
				return usagef("--to is missing: the directory of the backup")
			}
			return takeBackup(cmd.Context(), from, to, incremental, rate)
		},
	}
	f := cmd.Flags()
	f.StringVar(&to, "to", "", "directory of the backup")
	f.BoolVar(&incremental, "incremental", false,
		"add what has changed since the last backup in the directory")
	f.IntVar(&rate, "max-mib-per-second", 0, "receive no more than so much; 0 for no limit")
	from.bind(f)
	_ = cmd.MarkFlagDirname("to")
	verify := &cobra.Command{
		Use: "verify DIR", Short: "Look for damage in a backup", Args: cobra.ExactArgs(1),
		Long: `Reads the backups of a directory as a restore would, holds them against their checksums and
each other, and lists them.`,
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := openChain(args[0])
			if err != nil {
				return err
			}
			return verifyChain(c, len(c.Backups), os.Stdout)
		},
	}
	cmd.AddCommand(verify)
	return cmd
}

// openChain opens a directory that has to hold a backup.
func openChain(dir string) (*backup.Chain, error) {
	c, err := backup.Open(dir)
	if err != nil {
		return nil, err
	}
	if len(c.Backups) == 0 && len(c.Leftovers) > 0 {
		return nil, fmt.Errorf("%s holds no backup: %s was begun and not finished", dir,
			strings.Join(c.Leftovers, ", "))
	}
	if len(c.Backups) == 0 {
		return nil, fmt.Errorf("%s holds no backup", dir)
	}
	return c, nil
}

func verifyChain(c *backup.Chain, n int, out io.Writer) error {
	for _, l := range c.Leftovers {
		fmt.Fprintf(out, "%s was begun and not finished; it is no part of the backup\n", l)
	}
	wrong := c.Verify(n, func(m *backup.Manifest) {
		kind := "full"
		if m.Number > 0 {
			kind = "increment"
		}
		fmt.Fprintf(out, "%04d  %-9s  %s  %s\n", m.Number, kind, momentOf(m), contentsOf(m))
	})
	if err := errors.Join(wrong...); err != nil {
		return fmt.Errorf("the backup in %s cannot be restored: %w", c.Root, err)
	}
	return nil
}

func momentOf(m *backup.Manifest) string {
	return m.Snapshot.Time().UTC().Format("2006-01-02 15:04:05.000")
}

func contentsOf(m *backup.Manifest) string {
	return fmt.Sprintf("%d cells, %d unchanged, %d waiting for observers, %s", m.Cells, m.Unchanged,
		m.Positions, sizeOf(m.Bytes))
}

func sizeOf(n int64) string {
	switch {
	case n >= 10<<30:
		return fmt.Sprintf("%d GiB", n>>30)
	case n >= 10<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 10<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

func takeBackup(ctx context.Context, from *asked, dir string, incremental bool, rate int) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	c, err := backup.Open(dir)
	if err != nil {
		return err
	}
	last := c.Last()
	switch {
	case incremental && last == nil:
		return fmt.Errorf("%s holds no backup that an increment could follow; leave --incremental away", dir)
	case !incremental && last != nil:
		return fmt.Errorf("%s holds a backup already; --incremental adds to it, or name another directory",
			dir)
	}
	for _, l := range c.Leftovers {
		fmt.Fprintf(os.Stderr, "removing %s, which was begun and not finished\n", filepath.Join(dir, l))
	}
	if err := c.Clean(); err != nil {
		return err
	}
	ask := url.Values{}
	if last != nil {
		ask.Set("since", strconv.FormatUint(uint64(last.Snapshot), 10))
		ask.Set("store", last.Store)
	}
	began := time.Now()
	m, err := c.Take(func(w io.Writer) (backup.Info, backup.Counts, error) {
		return receiveBackup(ctx, from, ask, newPaced(w, rate))
	})
	if err != nil {
		return fmt.Errorf("%w\nthere is no new backup in %s", err, dir)
	}
	fmt.Printf("%s: %s in %v; what was committed until %s UTC\n",
		filepath.Join(dir, fmt.Sprintf("%04d", m.Number)), contentsOf(m),
		time.Since(began).Round(time.Millisecond), momentOf(m))
	return nil
}

// receiveBackup asks the server, and holds what came against what it says it has sent.
func receiveBackup(ctx context.Context, from *asked, ask url.Values, w io.Writer) (info backup.Info,
	counts backup.Counts, err error) {
	q := question{addr: from.addr, path: backupPath, of: control{keys: true}, values: ask}
	resp, err := q.stream(ctx, from.data, from.file)
	if err != nil {
		return info, counts, err
	}
	defer resp.Body.Close()
	sum := newHashed(w)
	if _, err := io.Copy(sum, resp.Body); err != nil {
		return info, counts, fmt.Errorf("the server has ended the backup: %w", err)
	}
	if text := resp.Trailer.Get(backupFailed); text != "" {
		return info, counts, fmt.Errorf("the server could not finish: %s", text)
	}
	var done backupDone
	if err := json.Unmarshal([]byte(resp.Trailer.Get(backupTrailer)), &done); err != nil {
		return info, counts, errors.New("the server has ended before the backup did")
	}
	if done.SHA256 != sum.String() {
		return info, counts, errors.New("what came is not what the server sent")
	}
	return done.Info, done.Counts, nil
}

// hashed computes a checksum of what is written.
type hashed struct {
	w   io.Writer
	sum hash.Hash
}

func newHashed(w io.Writer) *hashed { return &hashed{w, sha256.New()} }

func (h *hashed) Write(b []byte) (int, error) {
	n, err := h.w.Write(b)
	h.sum.Write(b[:n])
	return n, err
}

func (h *hashed) String() string { return hex.EncodeToString(h.sum.Sum(nil)) }

// paced writes no faster than it may, and shows at a terminal how far it is.
type paced struct {
	w     io.Writer
	rate  int64 // bytes a second, 0 for any
	began time.Time
	total int64
	shown time.Time
	shows bool
}

func newPaced(w io.Writer, mib int) *paced {
	return &paced{w: w, rate: int64(mib) << 20, began: time.Now(),
		shows: term.IsTerminal(int(os.Stderr.Fd()))}
}

func (p *paced) Write(b []byte) (int, error) {
	n, err := p.w.Write(b)
	p.total += int64(n)
	if p.shows && time.Since(p.shown) > time.Second {
		p.shown = time.Now()
		fmt.Fprintf(os.Stderr, "\r%s received in %v ", sizeOf(p.total),
			time.Since(p.began).Round(time.Second))
	}
	if p.rate > 0 {
		due := p.began.Add(time.Duration(float64(p.total) / float64(p.rate) * float64(time.Second)))
		time.Sleep(time.Until(due))
	}
	return n, err
}

// stream asks as askControl does, and returns an answer that is still to be read.
func (q question) stream(ctx context.Context, data, file string) (*http.Response, error) {
	token, err := readToken(cmp.Or(file, filepath.Join(data, tokenFile)))
	if err != nil && file != "" {
		return nil, fmt.Errorf("--token-file: %w", err)
	}
	resp, err := q.send(ctx, token)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusUnauthorized && file == "" {
		resp.Body.Close()
		if token, err = hintedToken(q.addr, resp.Header.Get(tokenHeader)); err != nil {
			return nil, fmt.Errorf("this needs the server's token: %w", err)
		}
		if resp, err = q.send(ctx, token); err != nil {
			return nil, err
		}
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		b, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
		return nil, errors.New(strings.TrimSpace(string(b)))
	}
	return resp, nil
}

// restoring is what the name of a directory ends with into which a backup is being restored.
const restoring = ".restoring"

// checkRestored refuses a directory that a restore was about to make: a new database in its place would look
// as if everything was lost.
func checkRestored(dir string) error {
	if list, err := os.ReadDir(dir); err == nil && len(list) > 0 {
		return nil
	}
	part := filepath.Clean(dir) + restoring
	if _, err := os.Stat(part); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return fmt.Errorf("%s holds part of a backup: 'moka restore' was ended before it was through; restore "+
		"again, or remove that directory", part)
}
