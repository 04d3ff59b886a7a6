package bigtable

import "moka/kv"

// The store's own commands. They are on the wire: numbers are never used again.
const (
	CommandLookup             kv.CommandID = 1 // LookupRequest -> LookupResponse: METADATA, on the shard of the root location
	CommandUpdateMeta         kv.CommandID = 2 // UpdateMetaRequest -> Empty: the node's own, after a change of tablets
	CommandCreateTable        kv.CommandID = 3
	CommandDropTable          kv.CommandID = 4
	CommandListTables         kv.CommandID = 5
	CommandReadRow            kv.CommandID = 8
	CommandReadRows           kv.CommandID = 9
	CommandMutateRow          kv.CommandID = 10
	CommandMutateRows         kv.CommandID = 11
	CommandCheckAndMutateRow  kv.CommandID = 12
	CommandReadModifyWriteRow kv.CommandID = 13
	CommandSweep              kv.CommandID = 14 // SweepRequest -> Empty: the node's own, garbage collection
	CommandAdmin              kv.CommandID = 20 // AdminRequest -> AdminResponse: split, merge, move, describe
)

// The store's locality groups. They are on disk.
const (
	GroupMeta   kv.GroupID = 1 // METADATA and the schemas of tables
	groupDisk0  kv.GroupID = 2 // 2..5: on disk
	groupFast0  kv.GroupID = 6 // 6..8: on disk, compressed for speed
	groupMem0   kv.GroupID = 9 // 9..15: in memory
	groupBeyond kv.GroupID = 16
)
