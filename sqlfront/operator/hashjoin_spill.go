package operator

import (
	"context"
	"io"

	"github.com/dolthub/go-mysql-server/sql"

	"moka/sqlfront/sqlerr"
)

func (j *hashJoin) newParts() ([]*run, error) {
	parts := make([]*run, joinParts)
	for i := range parts {
		var err error
		if parts[i], err = j.pool.newRun("hash join"); err != nil {
			closeRuns(parts)
			return nil, err
		}
	}
	return parts, nil
}

var errStays = sqlerr.New(sqlerr.CapacityExceeded,
	"Memory for 'hash join' exceeded, and its rows are too many for the disk or cannot be put there. See %s.",
	VarQueryMemory)

// spill writes a row into its partition, behind its key.
func (j *hashJoin) spill(ctx *sql.Context, parts []*run, level int, key uint64, row sql.Row) error {
	return j.write(ctx, parts[partOf(key, level)], key, row)
}

func (j *hashJoin) write(ctx *sql.Context, to *run, key uint64, row sql.Row) error {
	if !spillable(row) {
		return errStays
	}
	out := make(sql.Row, 0, len(row)+1)
	before := to.size
	if err := to.add(ctx, append(append(out, key), row...)); err != nil {
		return err
	}
	j.pool.spilled.Add(uint64(to.size - before))
	if j.own != nil {
		j.own.Disk(to.size - before)
	}
	if to.size > spillMost/joinParts {
		return errStays
	}
	return nil
}

// spillTable moves the table to disk.
func (j *hashJoin) spillTable(ctx *sql.Context) ([]*run, error) {
	parts, err := j.newParts()
	if err != nil {
		return nil, err
	}
	for key, rows := range j.table.rows {
		for _, row := range rows {
			if err := j.spill(ctx, parts, 0, key, row); err != nil {
				return parts, err
			}
		}
	}
	j.emptyTable()
	return parts, nil
}

// emptyTable leaves what every left row looks at.
func (j *hashJoin) emptyTable() {
	j.table.rows, j.table.size = map[uint64][]sql.Row{}, 0
	j.charge.Release()
	for _, row := range j.table.nulls {
		_ = j.charge.Add(RowBytes(row) + 24)
	}
}

// spillLeft cuts the left side as the right side was cut.
func (j *hashJoin) spillLeft(ctx *sql.Context, right []*run) error {
	for _, r := range right {
		j.pairs = append(j.pairs, &joinPair{right: r})
	}
	left, err := j.newParts()
	if err != nil {
		return err
	}
	for i, p := range j.pairs {
		p.left = left[i]
	}
	var nulls *joinPair
	for {
		row, err := j.left.Next(ctx)
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
		p, err := j.probe(ctx, row)
		if err != nil {
			return err
		}
		if !p.null {
			if err := j.spill(ctx, left, 0, p.key, row); err != nil {
				return err
			}
			continue
		}
		if nulls == nil {
			nulls = &joinPair{whole: true}
			j.pairs = append(j.pairs, nulls)
			if nulls.left, err = j.pool.newRun("hash join"); err != nil {
				return err
			}
		}
		if err := j.write(ctx, nulls.left, 0, row); err != nil {
			return err
		}
	}
	if err := finishRuns(left); err != nil {
		return err
	}
	if nulls != nil {
		if err := nulls.left.finish(); err != nil {
			return err
		}
	}
	j.next = func() (probe, error) { return probe{}, io.EOF }
	return nil
}

// advance goes on when the left rows at hand have been joined: with the next piece of the right side,
// or with the next pair.
func (j *hashJoin) advance(ctx *sql.Context) error {
	if err := ctx.Err(); err != nil {
		return sqlerr.From(context.Cause(ctx))
	}
	if p := j.current; p != nil {
		if !p.last {
			return j.piece(ctx, p)
		}
		j.current = nil
		p.close()
		j.emptyTable()
	}
	var p *joinPair
	for p == nil || p.left.rows == 0 { // which has no rows to give
		if p.close(); len(j.pairs) == 0 {
			return io.EOF
		}
		p, j.pairs = j.pairs[len(j.pairs)-1], j.pairs[:len(j.pairs)-1]
	}
	j.current = p
	if p.whole {
		// All partitions of the right side, which are still there, as this pair is the first.
		p.read = j.allRight()
	} else {
		p.read = p.right.reader()
	}
	return j.piece(ctx, p)
}

// allRight reads the right sides of all pairs.
func (j *hashJoin) allRight() func() (sql.Row, error) {
	pairs := j.pairs
	var read func() (sql.Row, error)
	return func() (sql.Row, error) {
		for {
			if read == nil {
				if len(pairs) == 0 {
					return nil, io.EOF
				}
				read, pairs = pairs[0].right.reader(), pairs[1:]
			}
			row, err := read()
			if err != io.EOF {
				return row, err
			}
			read = nil
		}
	}
}

// piece loads as much of a pair's right side as there is memory for, and begins with the left side.
func (j *hashJoin) piece(ctx *sql.Context, p *joinPair) error {
	most := j.pool.spillsAt(j.charge)
	j.emptyTable()
	for n := 0; ; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return sqlerr.From(context.Cause(ctx))
		}
		row, err := p.read()
		if err == io.EOF {
			p.last = true
			break
		}
		if err != nil {
			return err
		}
		if err := j.keep(row[0].(uint64), row[1:]); err != nil {
			return err
		}
		if j.table.size < most {
			continue
		}
		if !p.pieces && !p.whole && p.level < joinLevels && len(j.table.rows) > joinParts {
			return j.cut(ctx, p)
		}
		p.pieces = true
		break
	}
	if p.pieces && p.seen == nil {
		p.seen = make([]verdict, p.left.rows)
		if err := j.charge.Add(int64(len(p.seen))); err != nil {
			return err
		}
	}
	read, at := p.left.reader(), -1
	j.next = func() (probe, error) {
		row, err := read()
		if err != nil {
			return probe{}, err
		}
		at++
		if at%1024 == 0 && ctx.Err() != nil {
			return probe{}, sqlerr.From(context.Cause(ctx))
		}
		return probe{key: row[0].(uint64), row: row[1:], null: p.whole, at: at}, nil
	}
	return nil
}

// cut makes pairs of a pair of which the right side is too large.
func (j *hashJoin) cut(ctx *sql.Context, p *joinPair) error {
	defer p.close()
	j.current = nil
	j.emptyTable()
	half := func(from *run) ([]*run, error) {
		parts, err := j.newParts()
		if err != nil {
			return nil, err
		}
		read := from.reader()
		for n := 0; err == nil; n++ {
			var row sql.Row
			if row, err = read(); err == nil {
				err = j.spill(ctx, parts, p.level+1, row[0].(uint64), row[1:])
			}
			if n%1024 == 0 && ctx.Err() != nil {
				err = sqlerr.From(context.Cause(ctx))
			}
		}
		if err == io.EOF {
			err = finishRuns(parts)
		}
		if err != nil {
			closeRuns(parts)
			return nil, err
		}
		return parts, nil
	}
	right, err := half(p.right)
	if err != nil {
		return err
	}
	left, err := half(p.left)
	if err != nil {
		closeRuns(right)
		return err
	}
	for i := range right {
		j.pairs = append(j.pairs, &joinPair{right: right[i], left: left[i], level: p.level + 1})
	}
	j.next = func() (probe, error) { return probe{}, io.EOF }
	return nil
}
