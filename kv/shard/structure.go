package shard

import (
	"moka/kv"
	"moka/kv/engine"
	"moka/kv/keys"
)

// PutTablet adds a tablet's description to the batch, in the state of the shard that it names.
func PutTablet(b engine.Batch, t kv.Tablet) error {
	return b.Set(keys.AppendState(nil, t.Shard, keys.StateTablet, uint64(t.ID)), encodeTablet(t), nil)
}

func dropTablet(b engine.Batch, shard kv.ShardID, id kv.TabletID) error {
	return b.Delete(keys.AppendState(nil, shard, keys.StateTablet, uint64(id)), nil)
}
