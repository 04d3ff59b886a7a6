// Package inband makes the marks by which one part of this program tells another something through a text
// that the planner hands on as it is: a comment, a name, the time of AS OF. A client writes such texts,
// too. So each mark contains a word that was made up when the process began, and is taken out before
// anything is stored or shown.
package inband

import (
	"crypto/rand"
	"strings"
	"sync"
)

// nonce is the word. Letters and digits alone, so that it may stand in a name, and nothing that
// quotes a text changes it.
var nonce = strings.ToLower(rand.Text())

var known struct {
	sync.Mutex
	marks []string
}

// New makes a mark that begins a text. What follows it is the caller's.
func New(of string) string { return add("moka:" + nonce + ":" + of + ":") }

// Function makes the name of a function that only the parser calls.
func Function(of string) string { return add("moka_" + of + "_" + nonce) }

func add(mark string) string {
	known.Lock()
	defer known.Unlock()
	known.marks = append(known.marks, mark)
	return mark
}

// All are the marks that have been made.
func All() []string {
	known.Lock()
	defer known.Unlock()
	return append([]string(nil), known.marks...)
}

// In reports whether a text contains a mark.
func In(text string) bool { return strings.Contains(text, nonce) }

// Without is a text for people, who are not to learn the word.
func Without(text string) string {
	if !In(text) {
		return text
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, "_"+nonce, ""), nonce, "")
}
