// Package schema is the data definition of the TPC-E-like database: 33 tables, their keys,
// checks, foreign keys and the secondary indexes the transactions read through, as plain values
// from which a dialect prints DDL.
//
//	Tables()  the 33 tables, parents before children
//	Levels()  the same tables grouped by the depth of their foreign keys: a level may be loaded in any order, and in
//	          parallel, once every level before it is in
//	MySQL     the dialect spoken by Moka and MariaDB
//	Postgres  the same text for PostgreSQL
//
// Every string column compares by bytes. Two transactions of the workload change only the case of a word,
// and a case-insensitive collation (MySQL's default) would never see it; byte order also makes ORDER BY
// agree between engines.
//
// Two primary keys are stored in another column order than the specification lists them (CUSTOMER_TAXRATE,
// DAILY_MARKET, NEWS_XREF: by owner first), which it allows and every reader of those tables wants.
package schema
