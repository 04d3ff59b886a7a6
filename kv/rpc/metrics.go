package rpc

import "sync/atomic"

// Metrics counts what went through a Server, or through all peers of a Pool.
type Metrics struct {
	Streams       uint64 // streams opened
	Calls         uint64 // commands
	Batches       uint64 // frames in the direction of the commands; Calls/Batches is the mean batch
	Refused       uint64 // commands refused before anything happened
	Cancels       uint64 // commands whose caller went away
	Lost          uint64 // commands without an answer because a stream broke (pool only)
	BytesSent     uint64 // message bytes, without envelopes
	BytesReceived uint64
}

type metrics struct {
	streams, calls, batches, refused, cancels, lost, bytesSent, bytesReceived atomic.Uint64
}

func (m *metrics) snapshot() Metrics {
	return Metrics{
		Streams: m.streams.Load(), Calls: m.calls.Load(), Batches: m.batches.Load(), Refused: m.refused.Load(),
		Cancels: m.cancels.Load(), Lost: m.lost.Load(), BytesSent: m.bytesSent.Load(), BytesReceived: m.bytesReceived.Load(),
	}
}
