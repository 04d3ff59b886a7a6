package builtin

import (
	"strings"
	"sync"

	"github.com/dolthub/go-mysql-server/sql/expression/function"
)

// Native reports whether the library has a function of the name, which then goes before a stored one.
func Native(name string) bool {
	return natives()[name]
}

var natives = sync.OnceValue(func() map[string]bool {
	names := map[string]bool{}
	for _, f := range function.BuiltIns {
		names[strings.ToLower(f.FunctionName())] = true
	}
	return names
})
