package sqlerr

import "strings"

// byReference corrects what is said of a name by the place where the statement has it: the library has one error for a table that is not there
// and one that a column is qualified with, and one for columns of a foreign key and all others.
func byReference(code int, st Statement, m []string) (int, string) {
	name := argument(m, 1)
	switch code {
	case NoSuchTable:
		if parent, _ := referenced(st.Query); strings.EqualFold(parent, name) && definesKey(st.Query) {
			return ForeignKeyNoParent, "Failed to open the referenced table '" + name + "'"
		}
		if st.Missed == nil || st.Missed(name) {
			return 0, ""
		}
		switch column, clause := qualifies(st.Query, name); column {
		case "":
		case "*":
			return BadTable, "Unknown table '" + name + "'"
		default:
			return BadField, "Unknown column '" + name + "." + column + "' in '" + clause + "'"
		}
	case BadField:
		if len(m) < 3 || !definesKey(st.Query) {
			return 0, ""
		}
		column := argument(m, 2)
		parent, columns := referenced(st.Query)
		for _, c := range columns {
			if strings.EqualFold(c, column) && strings.EqualFold(parent, name) {
				return ForeignKeyNoColumn, "Failed to add the foreign key constraint. Missing column '" + column + "' for constraint in the referenced table '" + name + "'"
			}
		}
		for _, c := range ownColumns(st.Query) {
			if strings.EqualFold(c, column) {
				return KeyColumnNotFound, "Key column '" + column + "' doesn't exist in table"
			}
		}
	}
	return 0, ""
}

// definesKey reports whether the statement may define a foreign key.
func definesKey(query string) bool {
	w := words(query)
	return len(w) > 2 && (strings.EqualFold(w[0], "create") || strings.EqualFold(w[0], "alter"))
}

// referenced is the table behind the last REFERENCES of a statement, and its columns there.
func referenced(query string) (table string, columns []string) {
	lower := strings.ToLower(query)
	at := strings.LastIndex(lower, "references")
	if at < 0 {
		return "", nil
	}
	head, list, _ := strings.Cut(query[at+len("references"):], "(")
	if names := words(head); len(names) > 0 {
		table = names[len(names)-1]
	}
	list, _, _ = strings.Cut(list, ")")
	return table, words(list)
}

// ownColumns are the columns behind FOREIGN KEY.
func ownColumns(query string) []string {
	lower := strings.ToLower(query)
	at := strings.LastIndex(lower, "foreign")
	if at < 0 {
		return nil
	}
	_, list, _ := strings.Cut(query[at:], "(")
	list, _, _ = strings.Cut(list, ")")
	return words(list)
}

// qualifies finds the column that the statement qualifies with a name, and its clause.
func qualifies(query, name string) (column, clause string) {
	rest := query
	for i := 0; i < len(rest); {
		c := rest[i]
		start := i
		word := ""
		switch {
		case c == '\'' || c == '"':
			i = skipQuoted(rest, i)
			continue
		case c == '`':
			i = skipQuoted(rest, i)
			word = strings.Trim(rest[start:i], "`")
		case wordByte(c):
			for i < len(rest) && wordByte(rest[i]) {
				i++
			}
			word = rest[start:i]
		default:
			i++
			continue
		}
		if !strings.EqualFold(word, name) || i >= len(rest) || rest[i] != '.' {
			continue
		}
		after := strings.TrimLeft(rest[i+1:], " ")
		if strings.HasPrefix(after, "*") {
			return "*", ""
		}
		if w := words(after); len(w) > 0 {
			return w[0], clauseOf(query, w[0])
		}
	}
	return "", ""
}
