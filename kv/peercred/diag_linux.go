package peercred

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"syscall"
)

// The kernel is asked for one socket by its two ends (sock_diag(7)), which it finds in its own table at
// once. The text of /proc/net/tcp has to be made of that whole table, most of it empty: 1.5 ms for each
// login, some 20 µs here.
//
//	request   family u8 | protocol u8 | ext u8 | - u8 | states u32 | id
//	answer    family u8 | state u8 | timer u8 | retransmits u8 | id | expires, queues 3 × u32 | uid, inode u32
//	id        source, destination port u16 | source, destination 16 | interface u32 | cookie 2 × u32
//
// Ports and addresses are in the network's order, all else is in the machine's.
const (
	sockDiag         = 4  // NETLINK_SOCK_DIAG
	sockDiagByFamily = 20 // SOCK_DIAG_BY_FAMILY
	netlinkHead      = 16
	diagID           = 48
	diagRequest      = netlinkHead + 8 + diagID
	diagAnswer       = netlinkHead + 4 + diagID + 5*4
	tcpEstablished   = 1
)

// askKernel returns the owner of the socket with these ends; found says that there is one, which counts
// for findOwner, too. An error means that this kernel does not answer such questions, or knows of no such
// socket: the two look the same.
func askKernel(local, remote netip.AddrPort) (uid uint32, found bool, err error) {
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, sockDiag)
	if err != nil {
		return 0, false, err
	}
	defer syscall.Close(fd)
	kernel := &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}
	if err := syscall.Sendto(fd, diagQuestion(local, remote), 0, kernel); err != nil {
		return 0, false, err
	}
	var b [1024]byte
	// The answer was there when the question was sent.
	n, _, err := syscall.Recvfrom(fd, b[:], syscall.MSG_DONTWAIT)
	if err != nil {
		return 0, false, err
	}
	return diagOwner(b[:n], local, remote)
}

func diagQuestion(local, remote netip.AddrPort) []byte {
	b := make([]byte, diagRequest)
	binary.NativeEndian.PutUint32(b, diagRequest)
	binary.NativeEndian.PutUint16(b[4:], sockDiagByFamily)
	binary.NativeEndian.PutUint16(b[6:], syscall.NLM_F_REQUEST)
	r := b[netlinkHead:]
	r[0], r[1] = syscall.AF_INET6, syscall.IPPROTO_TCP
	if local.Addr().Is4() {
		r[0] = syscall.AF_INET
	}
	binary.NativeEndian.PutUint32(r[4:], 1<<tcpEstablished)
	id := r[8:]
	binary.BigEndian.PutUint16(id, local.Port())
	binary.BigEndian.PutUint16(id[2:], remote.Port())
	copy(id[4:], local.Addr().AsSlice())
	copy(id[20:], remote.Addr().AsSlice())
	binary.NativeEndian.PutUint64(id[40:], ^uint64(0)) // no cookie
	return b
}

// diagOwner reads an answer. What is said of another socket than the one asked for counts for nothing:
// where there is none with both ends the kernel goes on to who listens.
func diagOwner(b []byte, local, remote netip.AddrPort) (uid uint32, found bool, err error) {
	if len(b) < netlinkHead+4 {
		return 0, false, fmt.Errorf("an answer of %d bytes", len(b))
	}
	switch binary.NativeEndian.Uint16(b[4:]) {
	case syscall.NLMSG_ERROR:
		return 0, false, syscall.Errno(-int32(binary.NativeEndian.Uint32(b[netlinkHead:])))
	case sockDiagByFamily:
	default:
		return 0, false, fmt.Errorf("an answer of type %d", binary.NativeEndian.Uint16(b[4:]))
	}
	if len(b) < diagAnswer {
		return 0, false, fmt.Errorf("an answer of %d bytes", len(b))
	}
	r := b[netlinkHead:]
	id := r[4:]
	end := func(port, addr []byte) netip.AddrPort {
		a := netip.AddrFrom16([16]byte(addr[:16])).Unmap()
		if r[0] == syscall.AF_INET {
			a = netip.AddrFrom4([4]byte(addr[:4]))
		}
		return netip.AddrPortFrom(a, binary.BigEndian.Uint16(port))
	}
	owner := id[diagID+3*4:]
	inode := binary.NativeEndian.Uint32(owner[4:])
	if end(id, id[4:]) != local || end(id[2:], id[20:]) != remote || r[1] != tcpEstablished || inode == 0 {
		return 0, false, nil
	}
	return binary.NativeEndian.Uint32(owner), true, nil
}
