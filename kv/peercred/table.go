package peercred

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net/netip"
	"strconv"
)

// socketName writes an address as /proc/net/tcp does, and as tcp6 does: words of four bytes in the machine's order, the port
// as a number.
//
//	127.0.0.1:3306  →  0100007F:0CEA  and  0000000000000000FFFF00000100007F:0CEA   (little-endian)
func socketName(a netip.AddrPort, v6 bool) string {
	var b []byte
	if v6 {
		all := a.Addr().As16()
		b = all[:]
	} else {
		all := a.Addr().As4()
		b = all[:]
	}
	var out []byte
	for ; len(b) > 0; b = b[4:] {
		out = fmt.Appendf(out, "%08X", binary.NativeEndian.Uint32(b))
	}
	return string(fmt.Appendf(out, ":%04X", a.Port()))
}

// established is the state of a socket that neither end has begun to close.
const established = "01"

// findOwner looks for the socket with an own and a remote end in a table of sockets:
//
//	sl  local_address rem_address   st tx_queue:rx_queue tr:tm->when retrnsmt   uid  timeout inode …
//	 0: 0100007F:9C40 0100007F:0CEA 01 00000000:00000000 00:00000000 00000000  1000        0 4711  …
//
// A socket counts only while it is established and belongs to an open file. One that is being closed, or was closed, is shown
// as root's: who connects, says all he has to say and closes would be taken for him. The file's number is read after the
// owner, so a socket that was closed in between has none.
func findOwner(table io.Reader, local, remote string) (uid uint32, found bool, err error) {
	sc := bufio.NewScanner(table)
	for sc.Scan() {
		if !bytes.Contains(sc.Bytes(), []byte(local)) { // nearly all
			continue
		}
		f := bytes.Fields(sc.Bytes())
		if len(f) < 10 || string(f[1]) != local || string(f[2]) != remote {
			continue
		}
		if string(f[3]) != established || string(f[9]) == "0" {
			return 0, false, nil
		}
		n, err := strconv.ParseUint(string(f[7]), 10, 32)
		return uint32(n), err == nil, err
	}
	return 0, false, sc.Err()
}
