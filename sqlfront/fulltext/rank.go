package fulltext

import (
	"bytes"
	"math"
)

// Counts is what a row has of a query's words.
type Counts struct {
	tf  []int
	seq []int // the row's words as numbers of Query.seq, 0 for all others, if the query has phrases
}

// columnEnd stands between two columns: no phrase goes over it.
const columnEnd = -1

// Count looks a row's texts through.
func (q *Query) Count(texts []string) (*Counts, error) {
	c := &Counts{tf: make([]int, len(q.Terms))}
	var key []byte
	for _, text := range texts {
		if len(q.seq) > 0 && len(c.seq) > 0 {
			c.seq = append(c.seq, columnEnd)
		}
		err := tokens(text, func(word string, chars int) (err error) {
			if key, err = q.a.Key(key[:0], word); err != nil {
				return err
			}
			if i, ok := q.exact[string(key)]; ok {
				c.tf[i]++
			}
			if len(q.begin) > 0 && q.a.indexed(key, chars) {
				for _, i := range q.begin {
					if bytes.HasPrefix(key, q.Terms[i].Key) {
						c.tf[i]++
					}
				}
			}
			if len(q.seq) > 0 {
				c.seq = append(c.seq, q.seq[string(key)])
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Matches reports whether a row answers the query.
func (q *Query) Matches(c *Counts) bool { return q.root.matches(c) }

func (n *node) matches(c *Counts) bool {
	switch n.kind {
	case kindWord:
		return c.tf[n.term] > 0
	case kindPhrase:
		for _, t := range n.terms {
			if c.tf[t] == 0 {
				return false
			}
		}
		if n.within > 0 {
			return near(c.seq, n.words, n.within)
		}
		return follow(c.seq, n.words)
	case kindList:
		must, some := false, false
		for _, child := range n.children {
			switch child.op {
			case required:
				must = true
				if !child.matches(c) {
					return false
				}
			case excluded:
				if child.matches(c) {
					return false
				}
			case noise:
			default:
				some = some || child.matches(c)
			}
		}
		return must || some
	}
	return false
}

// follow reports whether the words stand in the text one after the other.
func follow(text, words []int) bool {
	for i := 0; i+len(words) <= len(text); i++ {
		j := 0
		for j < len(words) && text[i+j] == words[j] {
			j++
		}
		if j == len(words) {
			return true
		}
	}
	return false
}

// near reports whether the words stand within that many words of the text, in any order.
func near(text, words []int, within int) bool {
	want := map[int]bool{}
	for _, w := range words {
		want[w] = true
	}
	have := map[int]int{}
	start := 0
	for i, w := range text {
		if w == columnEnd {
			start = i + 1
			clear(have)
			continue
		}
		if want[w] {
			have[w]++
		}
		if out := i - within; out >= start && want[text[out]] {
			if have[text[out]]--; have[text[out]] == 0 {
				delete(have, text[out])
			}
		}
		if len(have) == len(want) {
			return true
		}
	}
	return false
}

// Rare is a word's idf, of which df of n rows have it. What all rows have is not worth nothing: it
// is a match all the same.
func Rare(n, df uint64) float64 {
	switch {
	case df == 0:
		return 0
	case df >= n:
		return math.Log10(1.0001)
	}
	return math.Log10(float64(n) / float64(df))
}

// Rank is how well a row answers; 0 if it does not, and only then. idf is by term.
func (q *Query) Rank(c *Counts, idf []float64) float64 {
	if !q.Matches(c) {
		return 0
	}
	var sum, shift float32
	scored := make([]float32, len(q.Terms))
	q.root.score(c, 1, scored, &shift)
	for i, s := range scored {
		sum += s * float32(float64(c.tf[i])*idf[i]*idf[i])
	}
	if sum += max(-1, min(1, shift)); sum == 0 {
		return math.SmallestNonzeroFloat32 // conditions take 0 for no
	}
	return float64(sum)
}

// score notes which terms count, and which way.
func (n *node) score(c *Counts, sign float32, scored []float32, shift *float32) {
	switch n.kind {
	case kindWord:
		if c.tf[n.term] > 0 && scored[n.term] <= 0 {
			scored[n.term] = sign
		}
	case kindPhrase:
		if n.matches(c) {
			for _, t := range n.terms {
				if scored[t] <= 0 {
					scored[t] = sign
				}
			}
		}
	case kindList:
		for _, child := range n.children {
			if child.op == excluded || !child.matches(c) {
				continue
			}
			s := sign
			switch child.op {
			case raised:
				*shift += 1
			case lowered:
				*shift -= 1
			case noise:
				s = -s
			}
			child.score(c, s, scored, shift)
		}
	}
}
