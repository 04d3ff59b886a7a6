// Package tpce is the TPC-E-like workload of Moka: a brokerage house that takes orders, a market that
// completes them, and the questions its customers ask. It is an honest SQL client: it imports nothing of ours
// and speaks through database/sql, so that what it measures a user would see. It runs, unchanged, against
// Moka, MariaDB and PostgreSQL: the statements are one text, and what differs is package client's.
//
//	Load     33 tables from a deterministic generator (package gen), in parallel, parents before children
//	Run      customers and the market drive the mix; a report with latencies, retries and every error
//	Check    consistency conditions in SQL, after the load and after every run
//
//	customers ---Trade-Order, and seven questions-----------------> database <--Data-Maintenance, every minute
//	    | committed orders                                            ^  ^
//	    v                                                             |  |
//	exchange --(~1 s)------------------------------Trade-Result-------'  |
//	    '------(ticker of 20 reports)--------------Market-Feed-----------'
//	                                               releases limit orders, which come back to the exchange
//
// # What it follows and what it does not
//
// The tables, the distributions of the data, the skew of customers, the frames of the transactions and their
// inputs are those of TPC-E as its specification (1.14) and its kits describe them. It is not TPC-E, its
// results are no TPC-E results, and its rate is called trtps: Trade-Results per second. What differs:
//
//   - What belongs to a list of trades (Trade-Lookup, Trade-Update) is read with one IN list for each table, and
//     Market-Watch adds up in one join, where the kits loop; the specification leaves both open.
//   - Load is a closed loop without think time (or an open one, pacer.go), which drives a small database at many times the rate it stands for; the
//     report prints both.
//   - Names and texts are our own. Sizes below 1,000 customers keep one full market; the presets shorten the news and the
//     history of prices.
//   - Trade numbers are leased in blocks from a table of our own (the specification leaves the way open).
//
// # Isolation
//
// On the MySQL wire everything runs at the session's default, REPEATABLE READ, with the row locks that MySQL
// needs to make it enough for Trade-Result (see trade_result.go); on an engine with snapshot isolation they
// cost a round trip and change nothing. On PostgreSQL each transaction asks for the specification's level
// (mix.go). A transaction that the engine aborts (1213, 1205; 40001, 40P01) is repeated whole with the same
// input, up to Config.MaxAttempts times. A COMMIT that gets no answer is neither believed nor repeated: the
// driver asks the database whether the trade is there.
//
// # Promises
//
// No error is dropped: the report groups them by kind with the first text of each. After a run the driver
// compares what was acknowledged with what the database holds, and RunReport.Err is nil only if they agree.
// Equal parameters load equal rows. Check's violations show the offending rows.
//
// Not promised: several drivers on one database at once (their counts would disagree), or a run during which
// somebody else cancels orders.
//
// Read next: config.go, mix.go, trade_order.go, trade_result.go, exchange.go, run.go, check.go;
// packages gen for the data and client for the servers.
package tpce
