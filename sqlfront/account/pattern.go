package account

// FirstWildcard is where the first wildcard of a pattern is; escaped ones are none.
func FirstWildcard(p string) int {
	n := 0
	for i := 0; i < len(p); i, n = i+1, n+1 {
		switch {
		case p[i] == '%' || p[i] == '_':
			return n
		case p[i] == '\\' && i+1 < len(p):
			i++
		}
	}
	return n + 1
}

// Matches reports whether a name is like a pattern: % is any number of characters, _ is one, \ takes the
// meaning of what follows away.
func Matches(pattern, name string) bool { return covers(elements(pattern), []rune(name)) }

// Covers reports whether all names that are like the one pattern are like the other, which is the wider one.
// It errs towards no: it takes `%_` and `_%` for different.
func Covers(wide, pattern string) bool { return covers(elements(wide), elements(pattern)) }

// Wildcards among the elements of a pattern; no characters have these numbers.
const (
	one  rune = -1 - iota // _
	many                  // %
)

// elements takes a pattern apart into characters and wildcards.
func elements(pattern string) (out []rune) {
	escaped := false
	for i, c := range pattern {
		switch {
		case escaped:
			escaped = false
		case c == '\\' && i+1 < len(pattern):
			escaped = true
			continue
		case c == '%':
			c = many
		case c == '_':
			c = one
		}
		out = append(out, c)
	}
	return out
}

// covers looks for the shortest run of elements that each % can stand for, from the left; there is never
// a reason to go back behind the last one, so that it takes no more than the product of the lengths.
func covers(wide, of []rune) bool {
	i, j := 0, 0
	star, from := -1, 0 // the last % of wide, and what the run for it ends before
	for j < len(of) {
		switch {
		case i < len(wide) && wide[i] == many:
			star, from = i, j
			i++
		case i < len(wide) && (wide[i] == of[j] || wide[i] == one && of[j] != many):
			i, j = i+1, j+1
		case star >= 0:
			from++
			i, j = star+1, from
		default:
			return false
		}
	}
	for i < len(wide) && wide[i] == many {
		i++
	}
	return i == len(wide)
}
