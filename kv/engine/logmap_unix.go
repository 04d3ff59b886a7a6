//go:build unix

package engine

import (
	"fmt"
	"runtime/debug"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// mapRecord maps the file of the record into memory; nil where that cannot be done, as for a file system in
// memory.
func mapRecord(f vfs.File) []byte {
	fd := f.Fd()
	if fd == vfs.InvalidFd {
		return nil
	}
	b, err := syscall.Mmap(int(fd), 0, 4*recordPage, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil
	}
	return b
}

func unmapRecord(b []byte) {
	if b != nil {
		_ = syscall.Munmap(b) // fails only for what is not mapped
	}
}

// storeMapped writes into a mapped file. If the system cannot have the page there (the file was cut, or a
// file system that never writes in place is full), it says so by a fault.
func storeMapped(to, b []byte) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch fault := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }:
			err = fmt.Errorf("%s cannot be written through memory: %v", recordFile, fault)
		default:
			panic(fault)
		}
	}()
	copy(to, b)
	return nil
}
