//go:build !unix

package main

// keepFilesPrivate has nothing to do where files have no modes.
func keepFilesPrivate() {}
