//go:build unix

package main

import "syscall"

// keepFilesPrivate has every file that the process makes from now on readable by its own user alone: the
// store's, logs, what sorts put aside.
func keepFilesPrivate() { syscall.Umask(0o077) }
