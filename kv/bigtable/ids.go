package bigtable

import "moka/kv"

// The store's own commands. They are on the wire: numbers are never used again.
const (
	CommandLookup             kv.CommandID = 1 // LookupRequest -> LookupResponse: METADATA, on the shard of the root location
	CommandCreateTable        kv.CommandID = 3
	CommandDropTable          kv.CommandID = 4
	CommandListTables         kv.CommandID = 5
	CommandReadRow            kv.CommandID = 8
	CommandReadRows           kv.CommandID = 9
	CommandMutateRow          kv.CommandID = 10
	CommandMutateRows         kv.CommandID = 11
	CommandCheckAndMutateRow  kv.CommandID = 12
	CommandReadModifyWriteRow kv.CommandID = 13
	CommandAdmin              kv.CommandID = 20 // AdminRequest -> AdminResponse: split, merge, move, describe
)
