// Package kvpb holds the protocol buffers of the traffic between nodes, and the code generated from them.
//
//	kv.proto     the batch stream of commands (service Store), and the introduction of a newcomer (service Cluster)
//	coord.proto  the coordination service for processes that do not host it (service Coord)
//
// Nothing above kv/rpc sees these types: they are envelopes. What a command says is encoded by the command's own
// message (kv.Message) and lies in the envelope as bytes.
//
// Field numbers are for ever: add, never reuse. `make generate` (it needs protoc; the plugins come with the module)
// writes the .pb.go files anew.
package kvpb

//go:generate sh -c "protoc -I . --plugin=protoc-gen-go=$(go tool -n protoc-gen-go) --plugin=protoc-gen-go-grpc=$(go tool -n protoc-gen-go-grpc) --go_out=. --go_opt=paths=source_relative --go-grpc_out=. --go-grpc_opt=paths=source_relative kv.proto coord.proto"
