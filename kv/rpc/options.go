package rpc

import (
	"context"
	"log/slog"
	"time"

	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
)

// Limits of a frame: a batch ends at the command that reaches one of them.
const (
	maxBatchCommands = 128
	maxBatchBytes    = 64 << 10
	// frameOverhead is room for the envelope around a message of the largest size.
	frameOverhead = 1 << 20
)

// gRPC's own buffers. Pages of a scan are a megabyte: with gRPC's 32 KiB each took 64 turns of the socket, and with its 64 KiB of window waited for
// the other end until its estimate of the line had grown.
const (
	socketBuffer = 128 << 10
	streamWindow = 4 << 20
	connWindow   = 8 << 20
)

// Options of servers and pools; zero values mean the defaults. The two ends need not agree, but a response above the
// caller's MaxMessage breaks the stream: keep that one equal in a cluster.
type Options struct {
	// MaxInFlight bounds the commands of one stream that have no answer yet; more are refused with ErrBusy. Default 4096.
	MaxInFlight int
	// MaxQueuedBytes bounds the messages of one stream that wait to be written. Default 64 MiB.
	MaxQueuedBytes int
	// MaxMessage is the largest request or response, in its own encoding. Default 80 MiB: a value of the
	// transaction layer (64 MiB) and what is sent with it.
	MaxMessage int
	// ConnectTimeout bounds one attempt to open a stream. Default 3 s.
	ConnectTimeout time.Duration
	// MaxBackoff bounds the pause between attempts to connect, which starts at 50 ms. Default 1 s.
	MaxBackoff time.Duration
	// KeepaliveInterval is how long a connection may be silent before the other end is asked for a sign of life, and a
	// third of it how long that may take. gRPC allows no less than 10 s on the calling side. Default 10 s.
	KeepaliveInterval time.Duration
	// MaxConnections bounds the connections to a server, those included that have not finished their
	// handshake, for which there is a quarter of it. Default 512.
	MaxConnections int
	// HandshakeTime is how long a connection to a server may take until both ends are known and have begun to
	// speak. Default 5 s; gRPC's is 120.
	HandshakeTime time.Duration
	// Credentials secure the connection. Default none.
	Credentials credentials.TransportCredentials
	// Cluster names the cluster that this end belongs to; a stream between ends that name two is refused.
	// Default none, which belongs to any.
	Cluster string
	// Allow says what the caller whose connection a context is of may do: it is asked once for each stream and each other call. What it
	// returns is asked for names of commands and of gRPC methods; nil is for callers that may do everything. Default: all may.
	// For servers.
	Allow func(ctx context.Context) func(what string) error
	// Logger gets connections coming and going. Default discards.
	Logger *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.MaxInFlight <= 0 {
		o.MaxInFlight = 4096
	}
	if o.MaxQueuedBytes <= 0 {
		o.MaxQueuedBytes = 64 << 20
	}
	if o.MaxMessage <= 0 {
		o.MaxMessage = 80 << 20
	}
	if o.ConnectTimeout <= 0 {
		o.ConnectTimeout = 3 * time.Second
	}
	if o.MaxBackoff <= 0 {
		o.MaxBackoff = time.Second
	}
	if o.KeepaliveInterval <= 0 {
		o.KeepaliveInterval = 10 * time.Second
	}
	if o.MaxConnections <= 0 {
		o.MaxConnections = 512
	}
	if o.HandshakeTime <= 0 {
		o.HandshakeTime = 5 * time.Second
	}
	if o.Credentials == nil {
		o.Credentials = insecure.NewCredentials()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}
