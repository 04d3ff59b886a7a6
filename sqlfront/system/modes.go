package system

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/sqlerr"
)

// combinedModes are the names of several SQL modes, which MySQL puts beside the name.
var combinedModes = map[string]string{
	"ANSI": "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ONLY_FULL_GROUP_BY",
	"TRADITIONAL": "STRICT_TRANS_TABLES,STRICT_ALL_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE," +
		"ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION",
}

// refusedModes are the modes that are refused, with the reason: each of them changes what a statement means,
// or answers, and none is heeded here. With the first, everything that reads a statement takes a backslash in
// a text for an escape, and who doubles quotes only, as he may under it, would have his values read as SQL.
var refusedModes = map[string]string{
	"NO_BACKSLASH_ESCAPES":     "a backslash in a text is an escape; double it",
	"HIGH_NOT_PRECEDENCE":      "NOT a BETWEEN b AND c is NOT (a BETWEEN b AND c); write the parentheses",
	"PAD_CHAR_TO_FULL_LENGTH":  "CHAR has no spaces at its end; RPAD adds them",
	"TIME_TRUNCATE_FRACTIONAL": "fractions of seconds are rounded; TRUNCATE cuts them off",
}

// Modes is a value of sql_mode, a text or a set's bits, with the modes that others stand for.
func Modes(t sql.Type, value any) (any, error) {
	text, ok := value.(string)
	if bits, number := value.(uint64); number {
		if set, is := t.(sql.SetType); is {
			var err error
			text, err = set.BitsToString(bits)
			ok = err == nil
		}
	}
	if !ok {
		return value, nil
	}
	modes := strings.Split(text, ",")
	for _, m := range modes {
		name := strings.ToUpper(strings.TrimSpace(m))
		if why := refusedModes[name]; why != "" {
			return nil, sqlerr.New(sqlerr.WrongValueForVariable, "Variable 'sql_mode' can't be set to the "+
				"value of '%s' (it is not supported: %s)", name, why)
		}
		if more := combinedModes[strings.ToUpper(strings.TrimSpace(m))]; more != "" {
			modes = append(modes, strings.Split(more, ",")...)
		}
	}
	return strings.Join(modes, ","), nil
}

// HeededModes is a mode that was kept by an older release, which took the refused ones and did not heed them.
func HeededModes(mode string) string {
	refused := func(m string) bool { return refusedModes[m] != "" }
	if modes := strings.Split(mode, ","); slices.ContainsFunc(modes, refused) {
		return strings.Join(slices.DeleteFunc(modes, refused), ",")
	}
	return mode
}
