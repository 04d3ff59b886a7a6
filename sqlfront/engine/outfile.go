package engine

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/types"

	"moka/sqlfront/rights"
	"moka/sqlfront/sqlerr"
)

// The library's SELECT … INTO OUTFILE does not escape what has to be, so that a tab in a value becomes a column; prints dates as Go
// does; keeps all rows in memory; and takes /srv/files-of-others for a place within /srv/files.

// fileExists is MySQL's error for a file that is there: it is never written over.
const fileExists = 1086

// insideFileDir returns the place of a file relative to the directory that is set aside for files, and that directory. Links that lead
// out of it are found when a file is opened. Without a directory any file will do: no server of ours is set up so, but a program
// that embeds the engine may be.
func insideFileDir(name string) (dir, rel string, err error) {
	if err := filesAllowed(); err != nil {
		return "", "", err
	}
	_, v, _ := sql.SystemVariables.GetGlobal("secure_file_priv")
	dir, _ = v.(string)
	if dir == "" {
		return "", name, nil
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	abs, err := filepath.Abs(dir)
	if err == nil {
		rel, err = filepath.Rel(abs, filepath.Clean(name))
	}
	if err != nil || !filepath.IsLocal(rel) {
		return "", "", sqlerr.New(sqlerr.ReadOnlyServer, "The MySQL server is running with the --secure-file-priv option so it cannot execute this statement; files lie in %s", dir)
	}
	return dir, rel, nil
}

// openFile opens a file to read. It is looked for from the directory downwards, so that a link that leads out of it is refused also
// when it is put there between the check and the opening. What is no file (a pipe, a directory) is refused: a read could wait for ever.
func openFile(name string) (*os.File, error) {
	dir, rel, err := insideFileDir(name)
	if err != nil {
		return nil, err
	}
	if dir == "" {
		dir, rel = filepath.Dir(rel), filepath.Base(rel)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return nil, errors.Join(fmt.Errorf("'%s' is no file", name), err, f.Close())
	}
	return f, nil
}

// intoFile is SELECT … INTO OUTFILE and INTO DUMPFILE.
func (b *execBuilder) intoFile(ctx *sql.Context, n *plan.Into, row sql.Row) (_ sql.RowIter, err error) {
	if !b.eng.mayAdminister(ctx, sql.PrivilegeType_File) {
		return nil, rights.Needs("FILE")
	}
	name := n.Outfile
	if name == "" {
		name = n.Dumpfile
	}
	dir, rel, err := insideFileDir(name)
	if err != nil {
		return nil, err
	}
	if dir == "" {
		dir, rel = filepath.Dir(rel), filepath.Base(rel)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, sqlerr.New(1, "Can't create/write to file '%s' (%v)", name, err)
	}
	defer root.Close()
	file, err := root.OpenFile(rel, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
	if errors.Is(err, os.ErrExist) {
		return nil, sqlerr.New(fileExists, "File '%s' already exists", name)
	}
	if err != nil {
		return nil, sqlerr.New(1, "Can't create/write to file '%s' (%v)", name, err)
	}
	defer func() {
		if cerr := file.Close(); err == nil && cerr != nil {
			err = sqlerr.New(3, "Error writing file '%s' (%v)", name, cerr)
		}
		if err != nil {
			_ = root.Remove(rel) // half a result is none
		}
	}()
	rows, err := b.base.Build(ctx, n.Child, row)
	if err != nil {
		return nil, err
	}
	defer func() {
		if cerr := rows.Close(ctx); err == nil {
			err = cerr
		}
	}()
	w := outfile{Writer: bufio.NewWriterSize(file, 256<<10), n: n, schema: n.Child.Schema(ctx)}
	count := 0
	for {
		r, err := rows.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if count++; n.Dumpfile != "" && count > 1 {
			return nil, sql.ErrMoreThanOneRow.New()
		}
		if err := w.row(ctx, r); err != nil {
			return nil, err
		}
	}
	if err := w.Flush(); err != nil {
		return nil, sqlerr.New(3, "Error writing file '%s' (%v)", name, err)
	}
	return sql.RowsToRowIter(sql.NewRow(types.NewOkResult(count))), nil
}

// outfile writes rows in the form that LOAD DATA with the same clauses reads.
type outfile struct {
	*bufio.Writer
	n      *plan.Into
	schema sql.Schema
}

// row writes what it can; an error of the writer stays in it until Flush.
func (w *outfile) row(ctx *sql.Context, row sql.Row) error {
	n := w.n
	if n.Dumpfile == "" {
		_, _ = w.WriteString(n.LinesStartingBy)
	}
	for i, v := range row {
		if i > 0 && n.Dumpfile == "" {
			_, _ = w.WriteString(n.FieldsTerminatedBy)
		}
		if v == nil {
			switch {
			case n.Dumpfile != "":
			case n.FieldsEscapedBy == "":
				_, _ = w.WriteString("NULL")
			default:
				_, _ = w.WriteString(n.FieldsEscapedBy[:1] + "N")
			}
			continue
		}
		text, err := w.schema[i].Type.SQL(ctx, nil, v)
		if err != nil {
			return err
		}
		raw := text.Raw()
		if types.IsFloat(w.schema[i].Type) {
			raw = bytes.Replace(raw, []byte("e+"), []byte("e"), 1)
		}
		if n.Dumpfile != "" {
			_, _ = w.Write(raw)
			continue
		}
		w.field(raw, n.FieldsEnclosedBy != "" && (!n.FieldsEnclosedByOpt || enclosedOptionally(w.schema[i].Type)))
	}
	if n.Dumpfile == "" {
		_, _ = w.WriteString(n.LinesTerminatedBy)
	}
	return nil
}

// enclosedOptionally says which columns OPTIONALLY ENCLOSED BY encloses: those that are no numbers.
func enclosedOptionally(t sql.Type) bool {
	return !types.IsNumber(t) || types.IsEnum(t) || types.IsSet(t)
}

// field writes a value and escapes the escape character, zero bytes, what could be taken for the end of a line, and what could be
// taken for the end of the field: the enclosing character, or without one the first of the terminator.
func (w *outfile) field(text []byte, enclosed bool) {
	n := w.n
	if enclosed {
		_, _ = w.WriteString(n.FieldsEnclosedBy)
	}
	if n.FieldsEscapedBy == "" {
		_, _ = w.Write(text)
	} else {
		special := n.FieldsEscapedBy[:1] + first(n.LinesTerminatedBy)
		if enclosed {
			special += first(n.FieldsEnclosedBy)
		} else {
			special += first(n.FieldsTerminatedBy)
		}
		for _, c := range text {
			switch {
			case c == 0:
				_, _ = w.WriteString(n.FieldsEscapedBy[:1] + "0")
				continue
			case strings.IndexByte(special, c) >= 0:
				_ = w.WriteByte(n.FieldsEscapedBy[0])
			}
			_ = w.WriteByte(c)
		}
	}
	if enclosed {
		_, _ = w.WriteString(n.FieldsEnclosedBy)
	}
}

func first(s string) string { return s[:min(1, len(s))] }
