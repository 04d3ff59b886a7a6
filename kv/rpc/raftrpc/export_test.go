package raftrpc

import "moka/kv"

// Queued is how many bytes wait for a peer.
func (t *Transport) Queued(id kv.NodeID) int {
	p := t.peers[id]
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.bytes
}
