package main

import (
	"fmt"
	"syscall"
)

// File descriptors are shared out before anybody can take them: a store that cannot open a file cannot write
// out its memtables, and stops. Go raises the soft limit of the process to the hard one when it starts, so
// what is asked for here is all there is.
type fileShares struct {
	store   int // Pebble's tables
	http    int // connections to the HTTP address
	nodes   int // connections to the node address
	logins  int // SQL connections that have not logged in yet
	clients int // those that have
}

const (
	leastFiles   = 192
	mostOfStore  = 512
	leastOfStore = 64
	mostOfHTTP   = 64
	mostOfNodes  = 512
	mostOfLogins = 512
	// mostOfOthers are for logs, tables being made, other processes, files of LOAD DATA, the one of sorts.
	mostOfOthers = 192
)

// shareFiles shares a limit out, for a process that has a node address or not. All doors together never have
// more than is left beside the store's. The error says what to do where there is too little to share.
func shareFiles(limit uint64, nodes bool) (fileShares, error) {
	if limit < leastFiles {
		return fileShares{}, fmt.Errorf("this process may open %d files only, and needs %d: raise the "+
			"limit (ulimit -n, or LimitNOFILE of a systemd unit)", limit, leastFiles)
	}
	n := int(min(limit, 1<<30))
	s := fileShares{store: min(mostOfStore, max(leastOfStore, n/4)), http: min(mostOfHTTP, n/8)}
	s.logins = min(mostOfLogins, n/8)
	if nodes {
		s.nodes = min(mostOfNodes, n/8)
	}
	s.clients = n - s.store - s.http - s.nodes - s.logins - min(mostOfOthers, n/4)
	return s, nil
}

// fileLimit is how many files the process may open.
func fileLimit() (uint64, error) {
	var l syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &l); err != nil {
		return 0, fmt.Errorf("the limit of open files cannot be read: %w", err)
	}
	return l.Cur, nil
}

// takeFiles shares the process's files out, and lowers max_connections if there are not
// enough, as MySQL does.
func (s *stack) takeFiles() error {
	limit, err := fileLimit()
	if err != nil {
		return err
	}
	if s.files, err = shareFiles(limit, s.o.NodeAddr != ""); err != nil {
		return err
	}
	if s.o.MaxConns > s.files.clients {
		s.o.Logger.Warn("max_connections is lowered: more connections than this process may open files for "+
			"would take those of the store",
			"max_connections", s.files.clients, "requested", s.o.MaxConns, "open_files", limit, "next_step",
			"raise ulimit -n")
		s.o.MaxConns = s.files.clients
	}
	return nil
}
