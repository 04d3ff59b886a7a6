package engine_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql/types"
)

// TestLoadInBlocks loads random files twice: in autocommit, where rows go in blocks, and within a transaction, where each goes
// through the library's INSERT. Rows, counts, warnings and errors are the same.
func TestLoadInBlocks(t *testing.T) {
	srv := newServer(t)
	s := srv.session("")
	s.exec("CREATE DATABASE d")
	s = srv.session("d")
	tables := []string{
		"(id INT PRIMARY KEY, k INT NOT NULL, p DECIMAL(6,2), name VARCHAR(12), KEY (k))",
		"(id INT, k SMALLINT, p DOUBLE DEFAULT 1.5, name CHAR(8), UNIQUE KEY (k))",
		"(id VARCHAR(9) PRIMARY KEY, k TINYINT UNSIGNED, p DATE, name BLOB, UNIQUE KEY u (k, p))",
		"(id BIGINT AUTO_INCREMENT PRIMARY KEY, k ENUM('1', '7') NOT NULL, p JSON, name TEXT NOT NULL, at DATETIME DEFAULT '2024-02-29')",
		"(id INT PRIMARY KEY, k BIT(4), p YEAR, name SET('a', 'b'), at TIMESTAMP NULL, KEY (k, p), CONSTRAINT c CHECK (id < 40))",
	}
	formats := []struct{ sql, field, line, quote string }{
		{"", "\t", "\n", ""},
		{"FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '\"' LINES TERMINATED BY '\\r\\n'", ",", "\r\n", `"`},
		{"FIELDS TERMINATED BY '<>' ENCLOSED BY '''' ESCAPED BY '' LINES STARTING BY '>>' TERMINATED BY ';\\n'", "<>", ";\n", "'"},
	}
	words := []string{
		"1", "2", "7", "-3", "300", "40000", "1.25", "9999.999", "abc", "2024-02-29", "2023-02-29", "NULL", `\N`, "", "a,b", `x\ty`, "{\"a\": 1}", "naïve",
		"a longer word than fits", "2024-02-29 10:11:12", "0", "a", " 5", "5 ", "1e1", "\xff",
	}
	for seed := range uint64(80) {
		r := rand.New(rand.NewPCG(seed, 0))
		f := formats[r.IntN(len(formats))]
		var file strings.Builder
		base := []int{1, 10, 35}[r.IntN(3)]
		table := tables[r.IntN(len(tables))]
		// Numbers that are drawn have gaps where a block is taken back.
		generated, listed := strings.Contains(table, "AUTO_INCREMENT") && r.IntN(2) == 0, "*"
		if generated {
			listed = "k, p, name, at"
		}
		for i := range 1 + r.IntN(12) {
			if strings.Contains(f.sql, "STARTING") && r.IntN(8) > 0 {
				file.WriteString("noise>>")
			}
			n := 4
			if r.IntN(10) == 0 {
				n = 1 + r.IntN(6)
			}
			for j := range n {
				if j > 0 {
					file.WriteString(f.field)
				}
				word := words[r.IntN(len(words))]
				if j == 0 && generated {
					word = "0"
				} else if j == 0 && (r.IntN(6) > 0 || strings.Contains(table, "AUTO_INCREMENT")) {
					word = fmt.Sprint(max(1, i+base-r.IntN(2)))
				} else if j == 1 && r.IntN(3) > 0 {
					word = fmt.Sprint(i + base - 1)
				} else if r.IntN(3) > 0 {
					word = words[r.IntN(3)]
				}
				if f.quote != "" && r.IntN(2) == 0 {
					word = f.quote + strings.ReplaceAll(word, f.quote, f.quote+f.quote) + f.quote
				}
				file.WriteString(word)
			}
			if r.IntN(30) > 0 {
				file.WriteString(f.line)
			}
		}
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(file.String()), 0o600); err != nil {
			t.Fatal(err)
		}
		how := []string{"", "IGNORE", "REPLACE"}[r.IntN(3)]
		columns := []string{"", "", "(id, k, p, name)", "(k, id)"}[r.IntN(4)]
		if generated {
			columns = ""
		}
		load := func(name string, transaction bool) string {
			s.exec("DROP TABLE IF EXISTS " + name)
			s.exec("CREATE TABLE " + name + " " + table)
			s.exec("INSERT INTO " + name + " (id, k, name) VALUES (3, 1, 'a')")
			if transaction {
				s.exec("BEGIN")
			}
			s.sess.ClearWarnings()
			_, rows, err := s.run(fmt.Sprintf("LOAD DATA INFILE '%s' %s INTO TABLE %s %s %s", path, how, name, f.sql, columns))
			out := fmt.Sprint(err)
			if len(rows) > 0 {
				out = fmt.Sprint(rows[0][0].(types.OkResult).RowsAffected)
			}
			for _, w := range s.sess.Warnings() {
				out += fmt.Sprintf("\n%s %d %s", w.Level, w.Code, w.Message)
			}
			if transaction {
				s.exec("COMMIT")
			}
			return strings.ReplaceAll(out+"\n"+s.text("SELECT "+listed+" FROM "+name+" ORDER BY id, k, name"), name, "T")
		}
		want, got := load("general", true), load("blocks", false)
		if got != want {
			t.Errorf("seed %d: %s %s %s %s\n%q\nin blocks:\n%s\none by one:\n%s", seed, table, how, f.sql, columns, file.String(), got, want)
		}
	}
}
