//go:build race

package client

// isolate makes messages go through their codecs also within the process.
const isolate = true
