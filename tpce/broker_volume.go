package tpce

import (
	"context"
	"database/sql"
	"fmt"

	"moka/tpce/client"
	"moka/tpce/gen"
)

// Broker-Volume adds up the pending limit orders of some brokers in one sector. One frame, one statement,
// reads only: a join of six tables over the smallest and liveliest of them.

type brokerVolumeInput struct {
	brokers []string
	sector  string
}

func drawBrokerVolume(u *gen.Universe, r *gen.Rand) brokerVolumeInput {
	in := brokerVolumeInput{sector: gen.ChooseSector(r)}
	for _, i := range r.Distinct(min(int(r.Int(20, 40)), u.Brokers()), u.Brokers()) {
		in.brokers = append(in.brokers, u.BrokerName(i+1))
	}
	return in
}

type brokerVolume struct {
	*client.Session
	in brokerVolumeInput

	names   []string
	volumes []gen.Cents
}

func (t *brokerVolume) run(ctx context.Context) error {
	t.names, t.volumes = t.names[:0], t.volumes[:0]
	args := []any{t.in.sector}
	for _, b := range t.in.brokers {
		args = append(args, b)
	}
	query := `SELECT b_name, SUM(tr_qty * tr_bid_price) AS volume
FROM trade_request JOIN broker ON b_id = tr_b_id JOIN security ON s_symb = tr_s_symb
JOIN company ON co_id = s_co_id JOIN industry ON in_id = co_in_id JOIN sector ON sc_id = in_sc_id
WHERE sc_name = ? AND b_name IN (` + placeholders(len(t.in.brokers)) + `) GROUP BY b_name ORDER BY volume DESC`
	err := t.Each(ctx, query, args, func(rows *sql.Rows) error {
		var name string
		var volume gen.Cents
		err := rows.Scan(&name, &volume)
		t.names, t.volumes = append(t.names, name), append(t.volumes, volume)
		return err
	})
	if err == nil && len(t.names) > len(t.in.brokers) {
		err = client.Status(-111, fmt.Sprintf("%d brokers asked for, %d answered", len(t.in.brokers),
			len(t.names)))
	}
	return err
}

func (t *brokerVolume) warning() string { return "" }
