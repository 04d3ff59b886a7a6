package local

import (
	"encoding/binary"
	"fmt"
	"slices"

	"moka/kv/coord"
	"moka/kv/coord/internal/core"
)

// KV is one raw entry of a Store.
type KV struct{ Key, Value []byte }

// Store is what the service needs from the node's storage. Keys already end with the comparer's sentinel (see the package comment); the
// prefix given to Scan does not. Slices passed to fn are valid during the call only.
type Store interface {
	Get(key []byte) (value []byte, ok bool, err error)
	Scan(prefix []byte, fn func(key, value []byte) error) error
	// Apply makes all of it durable in one atomic step before it returns.
	Apply(sets []KV, deletes [][]byte) error
}

// Options of a service; zero values mean the defaults.
type Options = core.Options

// Service is a coord.Service that survives its process.
type Service struct{ *core.Service }

// Open reads the state under prefix, ends the sessions of the process that wrote it, and starts the service. The
// store must admit one process at a time, and nobody else may write under the prefix.
func Open(store Store, prefix []byte, o Options) (*Service, error) {
	j := &journal{store: store, prefix: slices.Clone(prefix)}
	st, err := j.load()
	if err != nil {
		return nil, fmt.Errorf("coord local: reading state: %w", err)
	}
	if st, err = j.endOrphans(st); err != nil {
		return nil, fmt.Errorf("coord local: ending the sessions of the previous process: %w", err)
	}
	return &Service{core.New(st, j, o)}, nil
}

// Exists reports whether a service was ever kept under prefix.
func Exists(store Store, prefix []byte) (bool, error) {
	_, ok, err := store.Get(metaKey(prefix))
	return ok, err
}

// Empty is what a service keeps that nobody has used yet, without a prefix.
func Empty() []KV { return []KV{{metaKey(nil), encodeMeta(0)}} }

// Read returns all that a service keeps under prefix, without it: for another store to go on with, under the
// same revisions and sessions. A service that was never used is Empty.
func Read(store Store, prefix []byte) ([]KV, error) {
	var all []KV
	err := store.Scan(prefix, func(key, value []byte) error {
		all = append(all, KV{slices.Clone(key[len(prefix):]), slices.Clone(value)})
		return nil
	})
	if len(all) == 0 {
		all = Empty()
	}
	return all, err
}

// journal implements core.Journal on a Store.
type journal struct {
	store  Store
	prefix []byte
}

func (j *journal) Commit(c core.Change) error {
	sets := []KV{{metaKey(j.prefix), encodeMeta(c.Rev)}}
	var deletes [][]byte
	for _, kv := range c.Put {
		sets = append(sets, KV{keyKey(j.prefix, kv.Key), encodeKV(kv)})
	}
	for _, r := range c.Open {
		sets = append(sets, KV{sessionKey(j.prefix, r.ID), encodeSession(r)})
	}
	for _, key := range c.Delete {
		deletes = append(deletes, keyKey(j.prefix, key))
	}
	for _, id := range c.End {
		deletes = append(deletes, sessionKey(j.prefix, id))
	}
	return j.store.Apply(sets, deletes)
}

func (j *journal) load() (core.State, error) {
	var st core.State
	meta, ok, err := j.store.Get(metaKey(j.prefix))
	if err != nil {
		return st, err
	}
	if ok {
		if st.Rev, err = decodeMeta(meta); err != nil {
			return st, fmt.Errorf("meta: %w", err)
		}
	}
	err = j.scan(tagKey, func(key, value []byte) error {
		kv, err := decodeKV(string(key), value)
		if err != nil {
			return fmt.Errorf("key %q: %w", key, err)
		}
		st.Keys = append(st.Keys, kv)
		return nil
	})
	if err != nil {
		return st, err
	}
	err = j.scan(tagSession, func(key, value []byte) error {
		if len(key) != 8 {
			return fmt.Errorf("session key %x: expected 8 bytes", key)
		}
		id := coord.SessionID(binary.BigEndian.Uint64(key))
		r, err := decodeSession(id, value)
		if err != nil {
			return fmt.Errorf("session %d: %w", id, err)
		}
		st.Sessions = append(st.Sessions, r)
		return nil
	})
	if err != nil {
		return st, err
	}
	return st, check(st)
}

// scan calls f with the part of each key between tag and sentinel.
func (j *journal) scan(tag byte, f func(key, value []byte) error) error {
	prefix := append(j.prefix[:len(j.prefix):len(j.prefix)], tag)
	return j.store.Scan(prefix, func(key, value []byte) error {
		if len(key) <= len(prefix) || key[len(key)-1] != sentinel {
			return fmt.Errorf("key %x does not belong under %x", key, prefix)
		}
		return f(key[len(prefix):len(key)-1], value)
	})
}

// check refuses a state that no sequence of atomic batches can produce: better no service than one whose revisions repeat.
func check(st core.State) error {
	open := make(map[coord.SessionID]bool, len(st.Sessions))
	for _, r := range st.Sessions {
		if coord.Revision(r.ID) > st.Rev {
			return fmt.Errorf("session %d is newer than revision %d: the store is damaged, restore it from a backup", r.ID, st.Rev)
		}
		open[r.ID] = true
	}
	for _, kv := range st.Keys {
		if kv.ModRev > st.Rev || kv.CreateRev > kv.ModRev {
			return fmt.Errorf("key %q of revision %d is newer than revision %d: the store is damaged, restore it from a backup", kv.Key, kv.ModRev, st.Rev)
		}
		if kv.Session != 0 && !open[kv.Session] {
			return fmt.Errorf("key %q belongs to session %d, which does not exist: the store is damaged, restore it from a backup", kv.Key, kv.Session)
		}
	}
	return nil
}

// endOrphans ends the sessions whose holders died with the previous process, in one change.
func (j *journal) endOrphans(st core.State) (core.State, error) {
	change := core.Change{Rev: st.Rev + 1}
	gone := make(map[coord.SessionID]bool)
	keep := core.State{Rev: st.Rev}
	for _, r := range st.Sessions {
		if r.Detached {
			keep.Sessions = append(keep.Sessions, r)
			continue
		}
		gone[r.ID] = true
		change.End = append(change.End, r.ID)
	}
	for _, kv := range st.Keys {
		if gone[kv.Session] {
			change.Delete = append(change.Delete, kv.Key)
			continue
		}
		keep.Keys = append(keep.Keys, kv)
	}
	if len(gone) == 0 {
		return keep, nil
	}
	keep.Rev = change.Rev
	return keep, j.Commit(change)
}
