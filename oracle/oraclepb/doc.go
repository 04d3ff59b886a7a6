// Package oraclepb is the timestamp oracle on the wire. Package oracle is the only one that uses it.
package oraclepb

//go:generate sh -c "d=$(mktemp -d) && GOBIN=$d go install google.golang.org/protobuf/cmd/protoc-gen-go google.golang.org/grpc/cmd/protoc-gen-go-grpc && PATH=$d:$PATH protoc --go_out=. --go_opt=paths=source_relative --go-grpc_out=. --go-grpc_opt=paths=source_relative oracle.proto; rc=$?; rm -rf $d; exit $rc"
