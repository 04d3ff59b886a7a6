//go:build !unix

package engine

import "github.com/cockroachdb/pebble/v2/vfs"

func mapRecord(vfs.File) []byte { return nil }

func unmapRecord([]byte) {}

func storeMapped(to, b []byte) error { copy(to, b); return nil }
