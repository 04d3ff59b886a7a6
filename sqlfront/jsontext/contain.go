package jsontext

// Comparison tells whether documents contain one another. The elements of one are kept in a set by their
// keys, as to compare each of one with each of the other takes minutes of large ones.
type Comparison struct {
	Number func(v any) (float64, bool) // as in AppendKey
	Step   func() error                // called for each value; an error of it ends the comparison
}

// Contains reports whether b is contained in a. What is in an array within an array counts as in the array.
func (c Comparison) Contains(a, b any) (bool, error) {
	if err := c.Step(); err != nil {
		return false, err
	}
	switch a := a.(type) {
	case []any:
		return c.arrayContains(a, b)
	case map[string]any:
		o, ok := b.(map[string]any)
		if !ok {
			return false, nil
		}
		for k, v := range o {
			in, ok := a[k]
			if !ok {
				return false, nil
			}
			if is, err := c.Contains(in, v); !is || err != nil {
				return false, err
			}
		}
		return true, nil
	}
	switch b.(type) {
	case []any, map[string]any:
		return false, nil
	}
	return string(c.key(nil, a)) == string(c.key(nil, b)), nil
}

func (c Comparison) arrayContains(a []any, b any) (bool, error) {
	wanted := map[string]bool{} // scalars, by their keys
	var objects []any
	err := c.each(b, func(v any) {
		if _, ok := v.(map[string]any); ok {
			objects = append(objects, v)
		} else {
			wanted[string(c.key(nil, v))] = true
		}
	})
	if err != nil {
		return false, err
	}
	var among []any
	var key []byte
	err = c.each(a, func(v any) {
		if _, ok := v.(map[string]any); ok {
			if len(objects) > 0 {
				among = append(among, v)
			}
		} else if len(wanted) > 0 {
			key = c.key(key[:0], v)
			delete(wanted, string(key))
		}
	})
	if len(wanted) > 0 || err != nil {
		return false, err
	}
	for _, o := range objects {
		found := false
		for i := 0; i < len(among) && !found; i++ {
			if found, err = c.Contains(among[i], o); err != nil {
				return false, err
			}
		}
		if !found {
			return false, nil
		}
	}
	return true, nil
}

// each goes over a value, or over what is in an array and the arrays in it.
func (c Comparison) each(v any, do func(any)) error {
	if err := c.Step(); err != nil {
		return err
	}
	array, ok := v.([]any)
	if !ok {
		do(v)
		return nil
	}
	for _, e := range array {
		if err := c.each(e, do); err != nil {
			return err
		}
	}
	return nil
}

// Overlaps reports whether two documents have an element of an array, or a member of an object, in common; a
// value is an array of itself beside an array.
func (c Comparison) Overlaps(a, b any) (bool, error) {
	left, array := a.([]any)
	right, both := b.([]any)
	if array || both {
		if !array {
			left = []any{a}
		}
		if !both {
			right = []any{b}
		}
		return c.common(left, right)
	}
	x, ok := a.(map[string]any)
	y, ok2 := b.(map[string]any)
	if !ok || !ok2 {
		return c.common([]any{a}, []any{b})
	}
	for k, v := range x {
		if w, ok := y[k]; ok {
			if is, err := c.common([]any{v}, []any{w}); is || err != nil {
				return is, err
			}
		}
	}
	return false, nil
}

// common reports whether a value is in both lists.
func (c Comparison) common(a, b []any) (bool, error) {
	set := make(map[string]bool, len(b))
	for _, v := range b {
		if err := c.Step(); err != nil {
			return false, err
		}
		set[string(c.key(nil, v))] = true
	}
	var key []byte
	for _, v := range a {
		if err := c.Step(); err != nil {
			return false, err
		}
		if key = c.key(key[:0], v); set[string(key)] {
			return true, nil
		}
	}
	return false, nil
}

func (c Comparison) key(key []byte, v any) []byte { return AppendKey(key, v, c.Number) }
