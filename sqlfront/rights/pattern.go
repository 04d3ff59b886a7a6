package rights

import "strings"

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
func Matches(pattern, name string) bool {
	for pattern != "" {
		switch c := pattern[0]; {
		case c == '%':
			for pattern = strings.TrimLeft(pattern, "%"); ; name = name[1:] {
				if Matches(pattern, name) {
					return true
				}
				if name == "" {
					return false
				}
			}
		case name == "":
			return false
		case c == '_':
			pattern = pattern[1:]
			// the rest of the character
			for name = name[1:]; name != "" && name[0]&0xC0 == 0x80; name = name[1:] {
			}
			continue
		case c == '\\' && len(pattern) > 1:
			pattern = pattern[1:]
		}
		if pattern[0] != name[0] {
			return false
		}
		pattern, name = pattern[1:], name[1:]
	}
	return name == ""
}
