-- The columns of UNION for every pair of types: their values, and the types that CREATE TABLE ... SELECT gives
-- them. Left out are types where MySQL's are others than MariaDB's (signed and unsigned integers, BIT, YEAR beside
-- integers, TEXT), and two TIMEs, of which the library has one type with six digits.
-- runs: each query is prepared, too
set timestamp=1700000000;
set time_zone='+00:00';
create table ty(i8 tinyint, u8 tinyint unsigned, i16 smallint, u16 smallint unsigned, i24 mediumint, u24 mediumint unsigned, i32 int, u32 int unsigned, i64 bigint, u64 bigint unsigned, d2 decimal(10,2), d5 decimal(20,5), f float, d double, b bit(9), y year, da date, ti time, t3 time(3), dt datetime, dt3 datetime(3), ts timestamp(2) null, ch char(3), vc varchar(10), tx text, bi binary(3), vb varbinary(10), bl blob, en enum('z','yyyyy'), se set('q','p'));
insert into ty values (-7, 7, -300, 60000, -70000, 900000, -2000000000, 4000000000, -9000000000000000000, 18446744073709551615, -12345678.5, 123456789012345.12345, 0.5, 0.00125, b'101000001', 2024, '2024-02-03', '-10:11:12', '10:11:12.345', '2024-02-03 04:05:06', '2024-02-03 04:05:06.789', '2024-02-03 04:05:06.78', 'ab', 'hello', 'a text', 'ab', 'bytes', 'a blob', 'z', 'q,p'),(100, 200, 3, 3, 8, 9, 10, 9, 11, 12, 2, 2.5, -1024, -1024.5, b'1', 1999, '1999-12-31', '100:00:00', '00:00:00', '1999-12-31 00:00:00', '2000-01-01 00:00:00.5', '2001-01-01 01:00:00', 'B', '10', '', 'B', '10', '', 'yyyyy', 'p'),(null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null);
-- > rows affected: 3
select i8 i8, i8 u8, i8 i16, i8 u16, i8 i24, i8 u24, i8 i32, i8 u32, i8 i64, i8 u64, i8 d2, i8 d5, i8 f, i8 d, i8 b, i8 y, i8 da, i8 ti, i8 t3, i8 dt, i8 dt3, i8 ts, i8 ch, i8 vc, i8 tx, i8 bi, i8 vb, i8 bl, i8 en, i8 se from ty union all select i8, u8, i16, u16, i24, u24, i32, u32, i64, u64, d2, d5, f, d, b, y, da, ti, t3, dt, dt3, ts, ch, vc, tx, bi, vb, bl, en, se from ty;
-- > -7	-7	-7	-7	-7	-7	-7	-7	-7	-7	-7.00	-7.00000	-7	-7	-7	-7	-7	-7	-7	-7	-7	-7	-7	-7	-7	"-7\x00\x00"	-7	-7	-7	-7
-- > -7	7	-300	60000	-70000	900000	-2000000000	4000000000	-9000000000000000000	18446744073709551615	-12345678.50	123456789012345.12345	0.5	0.00125	321	2024	2024-02-03	-10:11:12	10:11:12.345	2024-02-03 04:05:06	2024-02-03 04:05:06.789	2024-02-03 04:05:06.78	ab	hello	a text	"ab\x00\x00"	bytes	a blob	z	q,p
-- > 100	100	100	100	100	100	100	100	100	100	100.00	100.00000	100	100	100	100	100	100	100	100	100	100	100	100	100	"100\x00"	100	100	100	100
-- > 100	200	3	3	8	9	10	9	11	12	2.00	2.50000	-1024	-1024.5	1	1999	1999-12-31	100:00:00	00:00:00.000	1999-12-31 00:00:00	2000-01-01 00:00:00.500	2001-01-01 01:00:00.00	B	10	""	"B\x00\x00\x00"	10	""	yyyyy	p
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
create table x0 as select i8 i8, i8 i16, i8 i24, i8 i32, i8 i64, i8 d2, i8 d5, i8 f, i8 d, i8 da, i8 ti, i8 t3, i8 dt, i8 dt3, i8 ts, i8 ch, i8 vc, i8 bi, i8 vb, i8 bl, i8 en, i8 se from ty where 0 union all select i8, i16, i24, i32, i64, d2, d5, f, d, da, ti, t3, dt, dt3, ts, ch, vc, bi, vb, bl, en, se from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x0' order by ordinal_position;
-- > i8	tinyint	0	NULL	NULL	NULL	NULL	NULL
-- > i16	smallint	0	NULL	NULL	NULL	NULL	NULL
-- > i24	mediumint	0	NULL	NULL	NULL	NULL	NULL
-- > i32	int	0	NULL	NULL	NULL	NULL	NULL
-- > i64	bigint	0	NULL	NULL	NULL	NULL	NULL
-- > d2	decimal	0	NULL	10	2	NULL	NULL
-- > d5	decimal	0	NULL	20	5	NULL	NULL
-- > f	float	0	NULL	NULL	NULL	NULL	NULL
-- > d	double	0	NULL	NULL	NULL	NULL	NULL
-- > da	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > ti	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > t3	varchar	0	14	NULL	NULL	NULL	utf8mb4
-- > dt	varchar	0	19	NULL	NULL	NULL	utf8mb4
-- > dt3	varchar	0	23	NULL	NULL	NULL	utf8mb4
-- > ts	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > ch	char	0	4	NULL	NULL	NULL	utf8mb4
-- > vc	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > bi	binary	0	4	NULL	NULL	NULL	NULL
-- > vb	varbinary	0	10	NULL	NULL	NULL	NULL
-- > bl	blob	0	NULL	NULL	NULL	NULL	NULL
-- > en	varchar	0	5	NULL	NULL	NULL	utf8mb4
-- > se	varchar	0	4	NULL	NULL	NULL	utf8mb4
select u8 u8, u8 i16, u8 u16, u8 i24, u8 u24, u8 i32, u8 u32, u8 i64, u8 u64, u8 d2, u8 d5, u8 f, u8 d, u8 b, u8 da, u8 ti, u8 t3, u8 dt, u8 dt3, u8 ts, u8 ch, u8 vc, u8 tx, u8 bi, u8 vb, u8 bl, u8 en, u8 se from ty union all select u8, i16, u16, i24, u24, i32, u32, i64, u64, d2, d5, f, d, b, da, ti, t3, dt, dt3, ts, ch, vc, tx, bi, vb, bl, en, se from ty;
-- > 200	200	200	200	200	200	200	200	200	200.00	200.00000	200	200	200	200	200	200	200	200	200	200	200	200	200	200	200	200	200
-- > 200	3	3	8	9	10	9	11	12	2.00	2.50000	-1024	-1024.5	1	1999-12-31	100:00:00	00:00:00.000	1999-12-31 00:00:00	2000-01-01 00:00:00.500	2001-01-01 01:00:00.00	B	10	""	"B\x00\x00"	10	""	yyyyy	p
-- > 7	-300	60000	-70000	900000	-2000000000	4000000000	-9000000000000000000	18446744073709551615	-12345678.50	123456789012345.12345	0.5	0.00125	321	2024-02-03	-10:11:12	10:11:12.345	2024-02-03 04:05:06	2024-02-03 04:05:06.789	2024-02-03 04:05:06.78	ab	hello	a text	"ab\x00"	bytes	a blob	z	q,p
-- > 7	7	7	7	7	7	7	7	7	7.00	7.00000	7	7	7	7	7	7	7	7	7	7	7	7	"7\x00\x00"	7	7	7	7
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
create table x1 as select u8 u8, u8 u16, u8 u24, u8 u32, u8 u64, u8 d2, u8 d5, u8 f, u8 d, u8 da, u8 ti, u8 t3, u8 dt, u8 dt3, u8 ts, u8 ch, u8 vc, u8 bi, u8 vb, u8 bl, u8 en, u8 se from ty where 0 union all select u8, u16, u24, u32, u64, d2, d5, f, d, da, ti, t3, dt, dt3, ts, ch, vc, bi, vb, bl, en, se from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x1' order by ordinal_position;
-- > u8	tinyint	1	NULL	NULL	NULL	NULL	NULL
-- > u16	smallint	1	NULL	NULL	NULL	NULL	NULL
-- > u24	mediumint	1	NULL	NULL	NULL	NULL	NULL
-- > u32	int	1	NULL	NULL	NULL	NULL	NULL
-- > u64	bigint	1	NULL	NULL	NULL	NULL	NULL
-- > d2	decimal	0	NULL	10	2	NULL	NULL
-- > d5	decimal	0	NULL	20	5	NULL	NULL
-- > f	float	0	NULL	NULL	NULL	NULL	NULL
-- > d	double	0	NULL	NULL	NULL	NULL	NULL
-- > da	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > ti	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > t3	varchar	0	14	NULL	NULL	NULL	utf8mb4
-- > dt	varchar	0	19	NULL	NULL	NULL	utf8mb4
-- > dt3	varchar	0	23	NULL	NULL	NULL	utf8mb4
-- > ts	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > ch	char	0	3	NULL	NULL	NULL	utf8mb4
-- > vc	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > bi	binary	0	3	NULL	NULL	NULL	NULL
-- > vb	varbinary	0	10	NULL	NULL	NULL	NULL
-- > bl	blob	0	NULL	NULL	NULL	NULL	NULL
-- > en	varchar	0	5	NULL	NULL	NULL	utf8mb4
-- > se	varchar	0	3	NULL	NULL	NULL	utf8mb4
select i16 i16, i16 u16, i16 i24, i16 u24, i16 i32, i16 u32, i16 i64, i16 u64, i16 d2, i16 d5, i16 f, i16 d, i16 b, i16 y, i16 da, i16 ti, i16 t3, i16 dt, i16 dt3, i16 ts, i16 ch, i16 vc, i16 tx, i16 bi, i16 vb, i16 bl, i16 en, i16 se from ty union all select i16, u16, i24, u24, i32, u32, i64, u64, d2, d5, f, d, b, y, da, ti, t3, dt, dt3, ts, ch, vc, tx, bi, vb, bl, en, se from ty;
-- > -300	-300	-300	-300	-300	-300	-300	-300	-300.00	-300.00000	-300	-300	-300	-300	-300	-300	-300	-300	-300	-300	-300	-300	-300	"-300\x00\x00"	-300	-300	-300	-300
-- > -300	60000	-70000	900000	-2000000000	4000000000	-9000000000000000000	18446744073709551615	-12345678.50	123456789012345.12345	0.5	0.00125	321	2024	2024-02-03	-10:11:12	10:11:12.345	2024-02-03 04:05:06	2024-02-03 04:05:06.789	2024-02-03 04:05:06.78	ab	hello	a text	"ab\x00\x00\x00\x00"	bytes	a blob	z	q,p
-- > 3	3	3	3	3	3	3	3	3.00	3.00000	3	3	3	3	3	3	3	3	3	3	3	3	3	"3\x00\x00\x00\x00\x00"	3	3	3	3
-- > 3	3	8	9	10	9	11	12	2.00	2.50000	-1024	-1024.5	1	1999	1999-12-31	100:00:00	00:00:00.000	1999-12-31 00:00:00	2000-01-01 00:00:00.500	2001-01-01 01:00:00.00	B	10	""	"B\x00\x00\x00\x00\x00"	10	""	yyyyy	p
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
create table x2 as select i16 i16, i16 i24, i16 i32, i16 i64, i16 d2, i16 d5, i16 f, i16 d, i16 da, i16 ti, i16 t3, i16 dt, i16 dt3, i16 ts, i16 ch, i16 vc, i16 bi, i16 vb, i16 bl, i16 en, i16 se from ty where 0 union all select i16, i24, i32, i64, d2, d5, f, d, da, ti, t3, dt, dt3, ts, ch, vc, bi, vb, bl, en, se from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x2' order by ordinal_position;
-- > i16	smallint	0	NULL	NULL	NULL	NULL	NULL
-- > i24	mediumint	0	NULL	NULL	NULL	NULL	NULL
-- > i32	int	0	NULL	NULL	NULL	NULL	NULL
-- > i64	bigint	0	NULL	NULL	NULL	NULL	NULL
-- > d2	decimal	0	NULL	10	2	NULL	NULL
-- > d5	decimal	0	NULL	20	5	NULL	NULL
-- > f	float	0	NULL	NULL	NULL	NULL	NULL
-- > d	double	0	NULL	NULL	NULL	NULL	NULL
-- > da	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > ti	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > t3	varchar	0	14	NULL	NULL	NULL	utf8mb4
-- > dt	varchar	0	19	NULL	NULL	NULL	utf8mb4
-- > dt3	varchar	0	23	NULL	NULL	NULL	utf8mb4
-- > ts	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > ch	char	0	6	NULL	NULL	NULL	utf8mb4
-- > vc	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > bi	binary	0	6	NULL	NULL	NULL	NULL
-- > vb	varbinary	0	10	NULL	NULL	NULL	NULL
-- > bl	blob	0	NULL	NULL	NULL	NULL	NULL
-- > en	varchar	0	6	NULL	NULL	NULL	utf8mb4
-- > se	varchar	0	6	NULL	NULL	NULL	utf8mb4
select u16 u16, u16 i24, u16 u24, u16 i32, u16 u32, u16 i64, u16 u64, u16 d2, u16 d5, u16 f, u16 d, u16 b, u16 y, u16 da, u16 ti, u16 t3, u16 dt, u16 dt3, u16 ts, u16 ch, u16 vc, u16 tx, u16 bi, u16 vb, u16 bl, u16 en, u16 se from ty union all select u16, i24, u24, i32, u32, i64, u64, d2, d5, f, d, b, y, da, ti, t3, dt, dt3, ts, ch, vc, tx, bi, vb, bl, en, se from ty;
-- > 3	3	3	3	3	3	3	3.00	3.00000	3	3	3	3	3	3	3	3	3	3	3	3	3	"3\x00\x00\x00\x00"	3	3	3	3
-- > 3	8	9	10	9	11	12	2.00	2.50000	-1024	-1024.5	1	1999	1999-12-31	100:00:00	00:00:00.000	1999-12-31 00:00:00	2000-01-01 00:00:00.500	2001-01-01 01:00:00.00	B	10	""	"B\x00\x00\x00\x00"	10	""	yyyyy	p
-- > 60000	-70000	900000	-2000000000	4000000000	-9000000000000000000	18446744073709551615	-12345678.50	123456789012345.12345	0.5	0.00125	321	2024	2024-02-03	-10:11:12	10:11:12.345	2024-02-03 04:05:06	2024-02-03 04:05:06.789	2024-02-03 04:05:06.78	ab	hello	a text	"ab\x00\x00\x00"	bytes	a blob	z	q,p
-- > 60000	60000	60000	60000	60000	60000	60000	60000.00	60000.00000	60000	60000	60000	60000	60000	60000	60000	60000	60000	60000	60000	60000	60000	60000	60000	60000	60000	60000
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
create table x3 as select u16 u16, u16 u24, u16 u32, u16 u64, u16 d2, u16 d5, u16 f, u16 d, u16 da, u16 ti, u16 t3, u16 dt, u16 dt3, u16 ts, u16 ch, u16 vc, u16 bi, u16 vb, u16 bl, u16 en, u16 se from ty where 0 union all select u16, u24, u32, u64, d2, d5, f, d, da, ti, t3, dt, dt3, ts, ch, vc, bi, vb, bl, en, se from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x3' order by ordinal_position;
-- > u16	smallint	1	NULL	NULL	NULL	NULL	NULL
-- > u24	mediumint	1	NULL	NULL	NULL	NULL	NULL
-- > u32	int	1	NULL	NULL	NULL	NULL	NULL
-- > u64	bigint	1	NULL	NULL	NULL	NULL	NULL
-- > d2	decimal	0	NULL	10	2	NULL	NULL
-- > d5	decimal	0	NULL	20	5	NULL	NULL
-- > f	float	0	NULL	NULL	NULL	NULL	NULL
-- > d	double	0	NULL	NULL	NULL	NULL	NULL
-- > da	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > ti	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > t3	varchar	0	14	NULL	NULL	NULL	utf8mb4
-- > dt	varchar	0	19	NULL	NULL	NULL	utf8mb4
-- > dt3	varchar	0	23	NULL	NULL	NULL	utf8mb4
-- > ts	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > ch	char	0	5	NULL	NULL	NULL	utf8mb4
-- > vc	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > bi	binary	0	5	NULL	NULL	NULL	NULL
-- > vb	varbinary	0	10	NULL	NULL	NULL	NULL
-- > bl	blob	0	NULL	NULL	NULL	NULL	NULL
-- > en	varchar	0	5	NULL	NULL	NULL	utf8mb4
-- > se	varchar	0	5	NULL	NULL	NULL	utf8mb4
select i24 i24, i24 u24, i24 i32, i24 u32, i24 i64, i24 u64, i24 d2, i24 d5, i24 f, i24 d, i24 b, i24 y, i24 da, i24 ti, i24 t3, i24 dt, i24 dt3, i24 ts, i24 ch, i24 vc, i24 tx, i24 bi, i24 vb, i24 bl, i24 en, i24 se from ty union all select i24, u24, i32, u32, i64, u64, d2, d5, f, d, b, y, da, ti, t3, dt, dt3, ts, ch, vc, tx, bi, vb, bl, en, se from ty;
-- > -70000	-70000	-70000	-70000	-70000	-70000	-70000.00	-70000.00000	-70000	-70000	-70000	-70000	-70000	-70000	-70000	-70000	-70000	-70000	-70000	-70000	-70000	"-70000\x00\x00\x00"	-70000	-70000	-70000	-70000
-- > -70000	900000	-2000000000	4000000000	-9000000000000000000	18446744073709551615	-12345678.50	123456789012345.12345	0.5	0.00125	321	2024	2024-02-03	-10:11:12	10:11:12.345	2024-02-03 04:05:06	2024-02-03 04:05:06.789	2024-02-03 04:05:06.78	ab	hello	a text	"ab\x00\x00\x00\x00\x00\x00\x00"	bytes	a blob	z	q,p
-- > 8	8	8	8	8	8	8.00	8.00000	8	8	8	8	8	8	8	8	8	8	8	8	8	"8\x00\x00\x00\x00\x00\x00\x00\x00"	8	8	8	8
-- > 8	9	10	9	11	12	2.00	2.50000	-1024	-1024.5	1	1999	1999-12-31	100:00:00	00:00:00.000	1999-12-31 00:00:00	2000-01-01 00:00:00.500	2001-01-01 01:00:00.00	B	10	""	"B\x00\x00\x00\x00\x00\x00\x00\x00"	10	""	yyyyy	p
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
create table x4 as select i24 i24, i24 i32, i24 i64, i24 d2, i24 d5, i24 f, i24 d, i24 da, i24 ti, i24 t3, i24 dt, i24 dt3, i24 ts, i24 ch, i24 vc, i24 bi, i24 vb, i24 bl, i24 en, i24 se from ty where 0 union all select i24, i32, i64, d2, d5, f, d, da, ti, t3, dt, dt3, ts, ch, vc, bi, vb, bl, en, se from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x4' order by ordinal_position;
-- > i24	mediumint	0	NULL	NULL	NULL	NULL	NULL
-- > i32	int	0	NULL	NULL	NULL	NULL	NULL
-- > i64	bigint	0	NULL	NULL	NULL	NULL	NULL
-- > d2	decimal	0	NULL	10	2	NULL	NULL
-- > d5	decimal	0	NULL	20	5	NULL	NULL
-- > f	float	0	NULL	NULL	NULL	NULL	NULL
-- > d	double	0	NULL	NULL	NULL	NULL	NULL
-- > da	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > ti	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > t3	varchar	0	14	NULL	NULL	NULL	utf8mb4
-- > dt	varchar	0	19	NULL	NULL	NULL	utf8mb4
-- > dt3	varchar	0	23	NULL	NULL	NULL	utf8mb4
-- > ts	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > ch	char	0	9	NULL	NULL	NULL	utf8mb4
-- > vc	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > bi	binary	0	9	NULL	NULL	NULL	NULL
-- > vb	varbinary	0	10	NULL	NULL	NULL	NULL
-- > bl	blob	0	NULL	NULL	NULL	NULL	NULL
-- > en	varchar	0	9	NULL	NULL	NULL	utf8mb4
-- > se	varchar	0	9	NULL	NULL	NULL	utf8mb4
select u24 u24, u24 i32, u24 u32, u24 i64, u24 u64, u24 d2, u24 d5, u24 f, u24 d, u24 b, u24 y, u24 da, u24 ti, u24 t3, u24 dt, u24 dt3, u24 ts, u24 ch, u24 vc, u24 tx, u24 bi, u24 vb, u24 bl, u24 en, u24 se from ty union all select u24, i32, u32, i64, u64, d2, d5, f, d, b, y, da, ti, t3, dt, dt3, ts, ch, vc, tx, bi, vb, bl, en, se from ty;
-- > 9	10	9	11	12	2.00	2.50000	-1024	-1024.5	1	1999	1999-12-31	100:00:00	00:00:00.000	1999-12-31 00:00:00	2000-01-01 00:00:00.500	2001-01-01 01:00:00.00	B	10	""	"B\x00\x00\x00\x00\x00\x00\x00"	10	""	yyyyy	p
-- > 9	9	9	9	9	9.00	9.00000	9	9	9	9	9	9	9	9	9	9	9	9	9	"9\x00\x00\x00\x00\x00\x00\x00"	9	9	9	9
-- > 900000	-2000000000	4000000000	-9000000000000000000	18446744073709551615	-12345678.50	123456789012345.12345	0.5	0.00125	321	2024	2024-02-03	-10:11:12	10:11:12.345	2024-02-03 04:05:06	2024-02-03 04:05:06.789	2024-02-03 04:05:06.78	ab	hello	a text	"ab\x00\x00\x00\x00\x00\x00"	bytes	a blob	z	q,p
-- > 900000	900000	900000	900000	900000	900000.00	900000.00000	900000	900000	900000	900000	900000	900000	900000	900000	900000	900000	900000	900000	900000	"900000\x00\x00"	900000	900000	900000	900000
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
create table x5 as select u24 u24, u24 u32, u24 u64, u24 d2, u24 d5, u24 f, u24 d, u24 da, u24 ti, u24 t3, u24 dt, u24 dt3, u24 ts, u24 ch, u24 vc, u24 bi, u24 vb, u24 bl, u24 en, u24 se from ty where 0 union all select u24, u32, u64, d2, d5, f, d, da, ti, t3, dt, dt3, ts, ch, vc, bi, vb, bl, en, se from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x5' order by ordinal_position;
-- > u24	mediumint	1	NULL	NULL	NULL	NULL	NULL
-- > u32	int	1	NULL	NULL	NULL	NULL	NULL
-- > u64	bigint	1	NULL	NULL	NULL	NULL	NULL
-- > d2	decimal	0	NULL	10	2	NULL	NULL
-- > d5	decimal	0	NULL	20	5	NULL	NULL
-- > f	float	0	NULL	NULL	NULL	NULL	NULL
-- > d	double	0	NULL	NULL	NULL	NULL	NULL
-- > da	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > ti	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > t3	varchar	0	14	NULL	NULL	NULL	utf8mb4
-- > dt	varchar	0	19	NULL	NULL	NULL	utf8mb4
-- > dt3	varchar	0	23	NULL	NULL	NULL	utf8mb4
-- > ts	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > ch	char	0	8	NULL	NULL	NULL	utf8mb4
-- > vc	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > bi	binary	0	8	NULL	NULL	NULL	NULL
-- > vb	varbinary	0	10	NULL	NULL	NULL	NULL
-- > bl	blob	0	NULL	NULL	NULL	NULL	NULL
-- > en	varchar	0	8	NULL	NULL	NULL	utf8mb4
-- > se	varchar	0	8	NULL	NULL	NULL	utf8mb4
select i32 i32, i32 u32, i32 i64, i32 u64, i32 d2, i32 d5, i32 f, i32 d, i32 b, i32 y, i32 da, i32 ti, i32 t3, i32 dt, i32 dt3, i32 ts, i32 ch, i32 vc, i32 tx, i32 bi, i32 vb, i32 bl, i32 en, i32 se from ty union all select i32, u32, i64, u64, d2, d5, f, d, b, y, da, ti, t3, dt, dt3, ts, ch, vc, tx, bi, vb, bl, en, se from ty;
-- > -2000000000	-2000000000	-2000000000	-2000000000	-2000000000.00	-2000000000.00000	-2e+09	-2e+09	-2000000000	-2000000000	-2000000000	-2000000000	-2000000000	-2000000000	-2000000000	-2000000000	-2000000000	-2000000000	-2000000000	-2000000000	-2000000000	-2000000000	-2000000000	-2000000000
-- > -2000000000	4000000000	-9000000000000000000	18446744073709551615	-12345678.50	123456789012345.12345	0.5	0.00125	321	2024	2024-02-03	-10:11:12	10:11:12.345	2024-02-03 04:05:06	2024-02-03 04:05:06.789	2024-02-03 04:05:06.78	ab	hello	a text	"ab\x00\x00\x00\x00\x00\x00\x00\x00\x00"	bytes	a blob	z	q,p
-- > 10	10	10	10	10.00	10.00000	10	10	10	10	10	10	10	10	10	10	10	10	10	"10\x00\x00\x00\x00\x00\x00\x00\x00\x00"	10	10	10	10
-- > 10	9	11	12	2.00	2.50000	-1024	-1024.5	1	1999	1999-12-31	100:00:00	00:00:00.000	1999-12-31 00:00:00	2000-01-01 00:00:00.500	2001-01-01 01:00:00.00	B	10	""	"B\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	10	""	yyyyy	p
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
create table x6 as select i32 i32, i32 i64, i32 d2, i32 d5, i32 f, i32 d, i32 da, i32 ti, i32 t3, i32 dt, i32 dt3, i32 ts, i32 ch, i32 vc, i32 bi, i32 vb, i32 bl, i32 en, i32 se from ty where 0 union all select i32, i64, d2, d5, f, d, da, ti, t3, dt, dt3, ts, ch, vc, bi, vb, bl, en, se from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x6' order by ordinal_position;
-- > i32	int	0	NULL	NULL	NULL	NULL	NULL
-- > i64	bigint	0	NULL	NULL	NULL	NULL	NULL
-- > d2	decimal	0	NULL	12	2	NULL	NULL
-- > d5	decimal	0	NULL	20	5	NULL	NULL
-- > f	double	0	NULL	NULL	NULL	NULL	NULL
-- > d	double	0	NULL	NULL	NULL	NULL	NULL
-- > da	varchar	0	11	NULL	NULL	NULL	utf8mb4
-- > ti	varchar	0	11	NULL	NULL	NULL	utf8mb4
-- > t3	varchar	0	14	NULL	NULL	NULL	utf8mb4
-- > dt	varchar	0	19	NULL	NULL	NULL	utf8mb4
-- > dt3	varchar	0	23	NULL	NULL	NULL	utf8mb4
-- > ts	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > ch	char	0	11	NULL	NULL	NULL	utf8mb4
-- > vc	varchar	0	11	NULL	NULL	NULL	utf8mb4
-- > bi	binary	0	11	NULL	NULL	NULL	NULL
-- > vb	varbinary	0	11	NULL	NULL	NULL	NULL
-- > bl	blob	0	NULL	NULL	NULL	NULL	NULL
-- > en	varchar	0	11	NULL	NULL	NULL	utf8mb4
-- > se	varchar	0	11	NULL	NULL	NULL	utf8mb4
select u32 u32, u32 i64, u32 u64, u32 d2, u32 d5, u32 f, u32 d, u32 b, u32 y, u32 da, u32 ti, u32 t3, u32 dt, u32 dt3, u32 ts, u32 ch, u32 vc, u32 tx, u32 bi, u32 vb, u32 bl, u32 en, u32 se from ty union all select u32, i64, u64, d2, d5, f, d, b, y, da, ti, t3, dt, dt3, ts, ch, vc, tx, bi, vb, bl, en, se from ty;
-- > 4000000000	-9000000000000000000	18446744073709551615	-12345678.50	123456789012345.12345	0.5	0.00125	321	2024	2024-02-03	-10:11:12	10:11:12.345	2024-02-03 04:05:06	2024-02-03 04:05:06.789	2024-02-03 04:05:06.78	ab	hello	a text	"ab\x00\x00\x00\x00\x00\x00\x00\x00"	bytes	a blob	z	q,p
-- > 4000000000	4000000000	4000000000	4000000000.00	4000000000.00000	4e+09	4e+09	4000000000	4000000000	4000000000	4000000000	4000000000	4000000000	4000000000	4000000000	4000000000	4000000000	4000000000	4000000000	4000000000	4000000000	4000000000	4000000000
-- > 9	11	12	2.00	2.50000	-1024	-1024.5	1	1999	1999-12-31	100:00:00	00:00:00.000	1999-12-31 00:00:00	2000-01-01 00:00:00.500	2001-01-01 01:00:00.00	B	10	""	"B\x00\x00\x00\x00\x00\x00\x00\x00\x00"	10	""	yyyyy	p
-- > 9	9	9	9.00	9.00000	9	9	9	9	9	9	9	9	9	9	9	9	9	"9\x00\x00\x00\x00\x00\x00\x00\x00\x00"	9	9	9	9
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
create table x7 as select u32 u32, u32 u64, u32 d2, u32 d5, u32 f, u32 d, u32 da, u32 ti, u32 t3, u32 dt, u32 dt3, u32 ts, u32 ch, u32 vc, u32 bi, u32 vb, u32 bl, u32 en, u32 se from ty where 0 union all select u32, u64, d2, d5, f, d, da, ti, t3, dt, dt3, ts, ch, vc, bi, vb, bl, en, se from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x7' order by ordinal_position;
-- > u32	int	1	NULL	NULL	NULL	NULL	NULL
-- > u64	bigint	1	NULL	NULL	NULL	NULL	NULL
-- > d2	decimal	0	NULL	12	2	NULL	NULL
-- > d5	decimal	0	NULL	20	5	NULL	NULL
-- > f	double	0	NULL	NULL	NULL	NULL	NULL
-- > d	double	0	NULL	NULL	NULL	NULL	NULL
-- > da	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > ti	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > t3	varchar	0	14	NULL	NULL	NULL	utf8mb4
-- > dt	varchar	0	19	NULL	NULL	NULL	utf8mb4
-- > dt3	varchar	0	23	NULL	NULL	NULL	utf8mb4
-- > ts	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > ch	char	0	10	NULL	NULL	NULL	utf8mb4
-- > vc	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > bi	binary	0	10	NULL	NULL	NULL	NULL
-- > vb	varbinary	0	10	NULL	NULL	NULL	NULL
-- > bl	blob	0	NULL	NULL	NULL	NULL	NULL
-- > en	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > se	varchar	0	10	NULL	NULL	NULL	utf8mb4
select i64 i64, i64 u64, i64 d2, i64 d5, i64 f, i64 d, i64 b, i64 y, i64 da, i64 ti, i64 t3, i64 dt, i64 dt3, i64 ts, i64 ch, i64 vc, i64 tx, i64 bi, i64 vb, i64 bl, i64 en, i64 se from ty union all select i64, u64, d2, d5, f, d, b, y, da, ti, t3, dt, dt3, ts, ch, vc, tx, bi, vb, bl, en, se from ty;
-- > -9000000000000000000	-9000000000000000000	-9000000000000000000.00	-9000000000000000000.00000	-9e+18	-9e+18	-9000000000000000000	-9000000000000000000	-9000000000000000000	-9000000000000000000	-9000000000000000000	-9000000000000000000	-9000000000000000000	-9000000000000000000	-9000000000000000000	-9000000000000000000	-9000000000000000000	-9000000000000000000	-9000000000000000000	-9000000000000000000	-9000000000000000000	-9000000000000000000
-- > -9000000000000000000	18446744073709551615	-12345678.50	123456789012345.12345	0.5	0.00125	321	2024	2024-02-03	-10:11:12	10:11:12.345	2024-02-03 04:05:06	2024-02-03 04:05:06.789	2024-02-03 04:05:06.78	ab	hello	a text	"ab\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	bytes	a blob	z	q,p
-- > 11	11	11.00	11.00000	11	11	11	11	11	11	11	11	11	11	11	11	11	"11\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	11	11	11	11
-- > 11	12	2.00	2.50000	-1024	-1024.5	1	1999	1999-12-31	100:00:00	00:00:00.000	1999-12-31 00:00:00	2000-01-01 00:00:00.500	2001-01-01 01:00:00.00	B	10	""	"B\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	10	""	yyyyy	p
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
create table x8 as select i64 i64, i64 d2, i64 d5, i64 f, i64 d, i64 da, i64 ti, i64 t3, i64 dt, i64 dt3, i64 ts, i64 ch, i64 vc, i64 bi, i64 vb, i64 bl, i64 en, i64 se from ty where 0 union all select i64, d2, d5, f, d, da, ti, t3, dt, dt3, ts, ch, vc, bi, vb, bl, en, se from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x8' order by ordinal_position;
-- > i64	bigint	0	NULL	NULL	NULL	NULL	NULL
-- > d2	decimal	0	NULL	21	2	NULL	NULL
-- > d5	decimal	0	NULL	24	5	NULL	NULL
-- > f	double	0	NULL	NULL	NULL	NULL	NULL
-- > d	double	0	NULL	NULL	NULL	NULL	NULL
-- > da	varchar	0	20	NULL	NULL	NULL	utf8mb4
-- > ti	varchar	0	20	NULL	NULL	NULL	utf8mb4
-- > t3	varchar	0	20	NULL	NULL	NULL	utf8mb4
-- > dt	varchar	0	20	NULL	NULL	NULL	utf8mb4
-- > dt3	varchar	0	23	NULL	NULL	NULL	utf8mb4
-- > ts	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > ch	char	0	20	NULL	NULL	NULL	utf8mb4
-- > vc	varchar	0	20	NULL	NULL	NULL	utf8mb4
-- > bi	binary	0	20	NULL	NULL	NULL	NULL
-- > vb	varbinary	0	20	NULL	NULL	NULL	NULL
-- > bl	blob	0	NULL	NULL	NULL	NULL	NULL
-- > en	varchar	0	20	NULL	NULL	NULL	utf8mb4
-- > se	varchar	0	20	NULL	NULL	NULL	utf8mb4
select u64 u64, u64 d2, u64 d5, u64 f, u64 d, u64 b, u64 y, u64 da, u64 ti, u64 t3, u64 dt, u64 dt3, u64 ts, u64 ch, u64 vc, u64 tx, u64 bi, u64 vb, u64 bl, u64 en, u64 se from ty union all select u64, d2, d5, f, d, b, y, da, ti, t3, dt, dt3, ts, ch, vc, tx, bi, vb, bl, en, se from ty;
-- > 12	12.00	12.00000	12	12	12	12	12	12	12	12	12	12	12	12	12	"12\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	12	12	12	12
-- > 12	2.00	2.50000	-1024	-1024.5	1	1999	1999-12-31	100:00:00	00:00:00.000	1999-12-31 00:00:00	2000-01-01 00:00:00.500	2001-01-01 01:00:00.00	B	10	""	"B\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	10	""	yyyyy	p
-- > 18446744073709551615	-12345678.50	123456789012345.12345	0.5	0.00125	321	2024	2024-02-03	-10:11:12	10:11:12.345	2024-02-03 04:05:06	2024-02-03 04:05:06.789	2024-02-03 04:05:06.78	ab	hello	a text	"ab\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	bytes	a blob	z	q,p
-- > 18446744073709551615	18446744073709551615.00	18446744073709551615.00000	1.8446744073709552e+19	1.8446744073709552e+19	18446744073709551615	18446744073709551615	18446744073709551615	18446744073709551615	18446744073709551615	18446744073709551615	18446744073709551615	18446744073709551615	18446744073709551615	18446744073709551615	18446744073709551615	18446744073709551615	18446744073709551615	18446744073709551615	18446744073709551615	18446744073709551615
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
create table x9 as select u64 u64, u64 d2, u64 d5, u64 f, u64 d, u64 da, u64 ti, u64 t3, u64 dt, u64 dt3, u64 ts, u64 ch, u64 vc, u64 bi, u64 vb, u64 bl, u64 en, u64 se from ty where 0 union all select u64, d2, d5, f, d, da, ti, t3, dt, dt3, ts, ch, vc, bi, vb, bl, en, se from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x9' order by ordinal_position;
-- > u64	bigint	1	NULL	NULL	NULL	NULL	NULL
-- > d2	decimal	0	NULL	22	2	NULL	NULL
-- > d5	decimal	0	NULL	25	5	NULL	NULL
-- > f	double	0	NULL	NULL	NULL	NULL	NULL
-- > d	double	0	NULL	NULL	NULL	NULL	NULL
-- > da	varchar	0	20	NULL	NULL	NULL	utf8mb4
-- > ti	varchar	0	20	NULL	NULL	NULL	utf8mb4
-- > t3	varchar	0	20	NULL	NULL	NULL	utf8mb4
-- > dt	varchar	0	20	NULL	NULL	NULL	utf8mb4
-- > dt3	varchar	0	23	NULL	NULL	NULL	utf8mb4
-- > ts	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > ch	char	0	20	NULL	NULL	NULL	utf8mb4
-- > vc	varchar	0	20	NULL	NULL	NULL	utf8mb4
-- > bi	binary	0	20	NULL	NULL	NULL	NULL
-- > vb	varbinary	0	20	NULL	NULL	NULL	NULL
-- > bl	blob	0	NULL	NULL	NULL	NULL	NULL
-- > en	varchar	0	20	NULL	NULL	NULL	utf8mb4
-- > se	varchar	0	20	NULL	NULL	NULL	utf8mb4
select d2 d2, d2 d5, d2 f, d2 d, d2 b, d2 y, d2 da, d2 ti, d2 t3, d2 dt, d2 dt3, d2 ts, d2 ch, d2 vc, d2 tx, d2 bi, d2 vb, d2 bl, d2 en, d2 se from ty union all select d2, d5, f, d, b, y, da, ti, t3, dt, dt3, ts, ch, vc, tx, bi, vb, bl, en, se from ty;
-- > -12345678.50	-12345678.50000	-1.23456785e+07	-1.23456785e+07	-12345678.50	-12345678.50	-12345678.50	-12345678.50	-12345678.50	-12345678.50	-12345678.50	-12345678.50	-12345678.50	-12345678.50	-12345678.50	-12345678.50	-12345678.50	-12345678.50	-12345678.50	-12345678.50
-- > -12345678.50	123456789012345.12345	0.5	0.00125	321	2024.00	2024-02-03	-10:11:12	10:11:12.345	2024-02-03 04:05:06	2024-02-03 04:05:06.789	2024-02-03 04:05:06.78	ab	hello	a text	"ab\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	bytes	a blob	z	q,p
-- > 2.00	2.00000	2	2	2.00	2.00	2.00	2.00	2.00	2.00	2.00	2.00	2.00	2.00	2.00	"2.00\x00\x00\x00\x00\x00\x00\x00\x00"	2.00	2.00	2.00	2.00
-- > 2.00	2.50000	-1024	-1024.5	1	1999.00	1999-12-31	100:00:00	00:00:00.000	1999-12-31 00:00:00	2000-01-01 00:00:00.500	2001-01-01 01:00:00.00	B	10	""	"B\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	10	""	yyyyy	p
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
create table x10 as select d2 d2, d2 d5, d2 f, d2 d, d2 y, d2 da, d2 ti, d2 t3, d2 dt, d2 dt3, d2 ts, d2 ch, d2 vc, d2 bi, d2 vb, d2 bl, d2 en, d2 se from ty where 0 union all select d2, d5, f, d, y, da, ti, t3, dt, dt3, ts, ch, vc, bi, vb, bl, en, se from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x10' order by ordinal_position;
-- > d2	decimal	0	NULL	10	2	NULL	NULL
-- > d5	decimal	0	NULL	20	5	NULL	NULL
-- > f	double	0	NULL	NULL	NULL	NULL	NULL
-- > d	double	0	NULL	NULL	NULL	NULL	NULL
-- > y	decimal	0	NULL	10	2	NULL	NULL
-- > da	varchar	0	12	NULL	NULL	NULL	utf8mb4
-- > ti	varchar	0	12	NULL	NULL	NULL	utf8mb4
-- > t3	varchar	0	14	NULL	NULL	NULL	utf8mb4
-- > dt	varchar	0	19	NULL	NULL	NULL	utf8mb4
-- > dt3	varchar	0	23	NULL	NULL	NULL	utf8mb4
-- > ts	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > ch	char	0	12	NULL	NULL	NULL	utf8mb4
-- > vc	varchar	0	12	NULL	NULL	NULL	utf8mb4
-- > bi	binary	0	12	NULL	NULL	NULL	NULL
-- > vb	varbinary	0	12	NULL	NULL	NULL	NULL
-- > bl	blob	0	NULL	NULL	NULL	NULL	NULL
-- > en	varchar	0	12	NULL	NULL	NULL	utf8mb4
-- > se	varchar	0	12	NULL	NULL	NULL	utf8mb4
select d5 d5, d5 f, d5 d, d5 b, d5 y, d5 da, d5 ti, d5 t3, d5 dt, d5 dt3, d5 ts, d5 ch, d5 vc, d5 tx, d5 bi, d5 vb, d5 bl, d5 en, d5 se from ty union all select d5, f, d, b, y, da, ti, t3, dt, dt3, ts, ch, vc, tx, bi, vb, bl, en, se from ty;
-- > 123456789012345.12345	0.5	0.00125	321	2024.00000	2024-02-03	-10:11:12	10:11:12.345	2024-02-03 04:05:06	2024-02-03 04:05:06.789	2024-02-03 04:05:06.78	ab	hello	a text	"ab\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	bytes	a blob	z	q,p
-- > 123456789012345.12345	1.2345678901234512e+14	1.2345678901234512e+14	123456789012345.12345	123456789012345.12345	123456789012345.12345	123456789012345.12345	123456789012345.12345	123456789012345.12345	123456789012345.12345	123456789012345.12345	123456789012345.12345	123456789012345.12345	123456789012345.12345	"123456789012345.12345\x00"	123456789012345.12345	123456789012345.12345	123456789012345.12345	123456789012345.12345
-- > 2.50000	-1024	-1024.5	1	1999.00000	1999-12-31	100:00:00	00:00:00.000	1999-12-31 00:00:00	2000-01-01 00:00:00.500	2001-01-01 01:00:00.00	B	10	""	"B\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	10	""	yyyyy	p
-- > 2.50000	2.5	2.5	2.50000	2.50000	2.50000	2.50000	2.50000	2.50000	2.50000	2.50000	2.50000	2.50000	2.50000	"2.50000\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	2.50000	2.50000	2.50000	2.50000
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
create table x11 as select d5 d5, d5 f, d5 d, d5 y, d5 da, d5 ti, d5 t3, d5 dt, d5 dt3, d5 ts, d5 ch, d5 vc, d5 bi, d5 vb, d5 bl, d5 en, d5 se from ty where 0 union all select d5, f, d, y, da, ti, t3, dt, dt3, ts, ch, vc, bi, vb, bl, en, se from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x11' order by ordinal_position;
-- > d5	decimal	0	NULL	20	5	NULL	NULL
-- > f	double	0	NULL	NULL	NULL	NULL	NULL
-- > d	double	0	NULL	NULL	NULL	NULL	NULL
-- > y	decimal	0	NULL	20	5	NULL	NULL
-- > da	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > ti	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > t3	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > dt	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > dt3	varchar	0	23	NULL	NULL	NULL	utf8mb4
-- > ts	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > ch	char	0	22	NULL	NULL	NULL	utf8mb4
-- > vc	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > bi	binary	0	22	NULL	NULL	NULL	NULL
-- > vb	varbinary	0	22	NULL	NULL	NULL	NULL
-- > bl	blob	0	NULL	NULL	NULL	NULL	NULL
-- > en	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > se	varchar	0	22	NULL	NULL	NULL	utf8mb4
select f f, f d, f b, f y, f da, f ti, f t3, f dt, f dt3, f ts, f ch, f vc, f tx, f bi, f vb, f bl, f en, f se from ty union all select f, d, b, y, da, ti, t3, dt, dt3, ts, ch, vc, tx, bi, vb, bl, en, se from ty;
-- > -1024	-1024	-1024	-1024	-1024	-1024	-1024	-1024	-1024	-1024	-1024	-1024	-1024	"-1024\x00\x00\x00\x00\x00\x00\x00"	-1024	-1024	-1024	-1024
-- > -1024	-1024.5	1	1999	1999-12-31	100:00:00	00:00:00.000	1999-12-31 00:00:00	2000-01-01 00:00:00.500	2001-01-01 01:00:00.00	B	10	""	"B\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	10	""	yyyyy	p
-- > 0.5	0.00125	321	2024	2024-02-03	-10:11:12	10:11:12.345	2024-02-03 04:05:06	2024-02-03 04:05:06.789	2024-02-03 04:05:06.78	ab	hello	a text	"ab\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	bytes	a blob	z	q,p
-- > 0.5	0.5	0.5	0.5	0.5	0.5	0.5	0.5	0.5	0.5	0.5	0.5	0.5	"0.5\x00\x00\x00\x00\x00\x00\x00\x00\x00"	0.5	0.5	0.5	0.5
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
create table x12 as select f f, f d, f y, f da, f ti, f t3, f dt, f dt3, f ts, f ch, f vc, f bi, f vb, f bl, f en, f se from ty where 0 union all select f, d, y, da, ti, t3, dt, dt3, ts, ch, vc, bi, vb, bl, en, se from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x12' order by ordinal_position;
-- > f	float	0	NULL	NULL	NULL	NULL	NULL
-- > d	double	0	NULL	NULL	NULL	NULL	NULL
-- > y	float	0	NULL	NULL	NULL	NULL	NULL
-- > da	varchar	0	12	NULL	NULL	NULL	utf8mb4
-- > ti	varchar	0	12	NULL	NULL	NULL	utf8mb4
-- > t3	varchar	0	14	NULL	NULL	NULL	utf8mb4
-- > dt	varchar	0	19	NULL	NULL	NULL	utf8mb4
-- > dt3	varchar	0	23	NULL	NULL	NULL	utf8mb4
-- > ts	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > ch	char	0	12	NULL	NULL	NULL	utf8mb4
-- > vc	varchar	0	12	NULL	NULL	NULL	utf8mb4
-- > bi	binary	0	12	NULL	NULL	NULL	NULL
-- > vb	varbinary	0	12	NULL	NULL	NULL	NULL
-- > bl	blob	0	NULL	NULL	NULL	NULL	NULL
-- > en	varchar	0	12	NULL	NULL	NULL	utf8mb4
-- > se	varchar	0	12	NULL	NULL	NULL	utf8mb4
select d d, d b, d y, d da, d ti, d t3, d dt, d dt3, d ts, d ch, d vc, d tx, d bi, d vb, d bl, d en, d se from ty union all select d, b, y, da, ti, t3, dt, dt3, ts, ch, vc, tx, bi, vb, bl, en, se from ty;
-- > -1024.5	-1024.5	-1024.5	-1024.5	-1024.5	-1024.5	-1024.5	-1024.5	-1024.5	-1024.5	-1024.5	-1024.5	"-1024.5\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	-1024.5	-1024.5	-1024.5	-1024.5
-- > -1024.5	1	1999	1999-12-31	100:00:00	00:00:00.000	1999-12-31 00:00:00	2000-01-01 00:00:00.500	2001-01-01 01:00:00.00	B	10	""	"B\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	10	""	yyyyy	p
-- > 0.00125	0.00125	0.00125	0.00125	0.00125	0.00125	0.00125	0.00125	0.00125	0.00125	0.00125	0.00125	"0.00125\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	0.00125	0.00125	0.00125	0.00125
-- > 0.00125	321	2024	2024-02-03	-10:11:12	10:11:12.345	2024-02-03 04:05:06	2024-02-03 04:05:06.789	2024-02-03 04:05:06.78	ab	hello	a text	"ab\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	bytes	a blob	z	q,p
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
create table x13 as select d d, d y, d da, d ti, d t3, d dt, d dt3, d ts, d ch, d vc, d bi, d vb, d bl, d en, d se from ty where 0 union all select d, y, da, ti, t3, dt, dt3, ts, ch, vc, bi, vb, bl, en, se from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x13' order by ordinal_position;
-- > d	double	0	NULL	NULL	NULL	NULL	NULL
-- > y	double	0	NULL	NULL	NULL	NULL	NULL
-- > da	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > ti	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > t3	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > dt	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > dt3	varchar	0	23	NULL	NULL	NULL	utf8mb4
-- > ts	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > ch	char	0	22	NULL	NULL	NULL	utf8mb4
-- > vc	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > bi	binary	0	22	NULL	NULL	NULL	NULL
-- > vb	varbinary	0	22	NULL	NULL	NULL	NULL
-- > bl	blob	0	NULL	NULL	NULL	NULL	NULL
-- > en	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > se	varchar	0	22	NULL	NULL	NULL	utf8mb4
select b b, b y, b da, b ti, b t3, b dt, b dt3, b ts, b vc, b vb, b en, b se from ty union all select b, y, da, ti, t3, dt, dt3, ts, vc, vb, en, se from ty;
-- > "\x00\x01"	1	1	1	1	1	1	1	1	1	1	1
-- > "\x00\x01"	1999	1999-12-31	100:00:00	00:00:00.000	1999-12-31 00:00:00	2000-01-01 00:00:00.500	2001-01-01 01:00:00.00	10	10	yyyyy	p
-- > "\x01A"	2024	2024-02-03	-10:11:12	10:11:12.345	2024-02-03 04:05:06	2024-02-03 04:05:06.789	2024-02-03 04:05:06.78	hello	bytes	z	q,p
-- > "\x01A"	321	321	321	321	321	321	321	321	321	321	321
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
create table x14 as select b b from ty where 0 union all select b from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x14' order by ordinal_position;
-- > b	bit	0	NULL	NULL	NULL	NULL	NULL
select y y, y da, y ti, y t3, y dt, y dt3, y ts, y ch, y vc, y tx, y bi, y vb, y bl, y en, y se from ty union all select y, da, ti, t3, dt, dt3, ts, ch, vc, tx, bi, vb, bl, en, se from ty;
-- > 1999	1999	1999	1999	1999	1999	1999	1999	1999	1999	1999	1999	1999	1999	1999
-- > 1999	1999-12-31	100:00:00	00:00:00.000	1999-12-31 00:00:00	2000-01-01 00:00:00.500	2001-01-01 01:00:00.00	B	10	""	"B\x00\x00\x00"	10	""	yyyyy	p
-- > 2024	2024	2024	2024	2024	2024	2024	2024	2024	2024	2024	2024	2024	2024	2024
-- > 2024	2024-02-03	-10:11:12	10:11:12.345	2024-02-03 04:05:06	2024-02-03 04:05:06.789	2024-02-03 04:05:06.78	ab	hello	a text	"ab\x00\x00"	bytes	a blob	z	q,p
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
create table x15 as select y y, y da, y ti, y t3, y dt, y dt3, y ts, y ch, y vc, y bi, y vb, y bl, y en, y se from ty where 0 union all select y, da, ti, t3, dt, dt3, ts, ch, vc, bi, vb, bl, en, se from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x15' order by ordinal_position;
-- > y	year	0	NULL	NULL	NULL	NULL	NULL
-- > da	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > ti	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > t3	varchar	0	14	NULL	NULL	NULL	utf8mb4
-- > dt	varchar	0	19	NULL	NULL	NULL	utf8mb4
-- > dt3	varchar	0	23	NULL	NULL	NULL	utf8mb4
-- > ts	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > ch	char	0	4	NULL	NULL	NULL	utf8mb4
-- > vc	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > bi	binary	0	4	NULL	NULL	NULL	NULL
-- > vb	varbinary	0	10	NULL	NULL	NULL	NULL
-- > bl	blob	0	NULL	NULL	NULL	NULL	NULL
-- > en	varchar	0	5	NULL	NULL	NULL	utf8mb4
-- > se	varchar	0	4	NULL	NULL	NULL	utf8mb4
select da da, da ti, da t3, da dt, da dt3, da ts, da ch, da vc, da tx, da bi, da vb, da bl, da en, da se from ty union all select da, ti, t3, dt, dt3, ts, ch, vc, tx, bi, vb, bl, en, se from ty;
-- > 1999-12-31	1999-12-31 00:00:00	1999-12-31 00:00:00.000	1999-12-31 00:00:00	1999-12-31 00:00:00.000	1999-12-31 00:00:00.00	1999-12-31	1999-12-31	1999-12-31	1999-12-31	1999-12-31	1999-12-31	1999-12-31	1999-12-31
-- > 1999-12-31	2023-11-18 04:00:00	2023-11-14 00:00:00.000	1999-12-31 00:00:00	2000-01-01 00:00:00.500	2001-01-01 01:00:00.00	B	10	""	"B\x00\x00\x00\x00\x00\x00\x00\x00\x00"	10	""	yyyyy	p
-- > 2024-02-03	2023-11-13 13:48:48	2023-11-14 10:11:12.345	2024-02-03 04:05:06	2024-02-03 04:05:06.789	2024-02-03 04:05:06.78	ab	hello	a text	"ab\x00\x00\x00\x00\x00\x00\x00\x00"	bytes	a blob	z	q,p
-- > 2024-02-03	2024-02-03 00:00:00	2024-02-03 00:00:00.000	2024-02-03 00:00:00	2024-02-03 00:00:00.000	2024-02-03 00:00:00.00	2024-02-03	2024-02-03	2024-02-03	2024-02-03	2024-02-03	2024-02-03	2024-02-03	2024-02-03
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
create table x16 as select da da, da ti, da t3, da dt, da dt3, da ts, da ch, da vc, da bi, da vb, da bl, da en, da se from ty where 0 union all select da, ti, t3, dt, dt3, ts, ch, vc, bi, vb, bl, en, se from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x16' order by ordinal_position;
-- > da	date	0	NULL	NULL	NULL	NULL	NULL
-- > ti	datetime	0	NULL	NULL	NULL	0	NULL
-- > t3	datetime	0	NULL	NULL	NULL	3	NULL
-- > dt	datetime	0	NULL	NULL	NULL	0	NULL
-- > dt3	datetime	0	NULL	NULL	NULL	3	NULL
-- > ts	datetime	0	NULL	NULL	NULL	2	NULL
-- > ch	char	0	10	NULL	NULL	NULL	utf8mb4
-- > vc	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > bi	binary	0	10	NULL	NULL	NULL	NULL
-- > vb	varbinary	0	10	NULL	NULL	NULL	NULL
-- > bl	blob	0	NULL	NULL	NULL	NULL	NULL
-- > en	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > se	varchar	0	10	NULL	NULL	NULL	utf8mb4
select ti dt, ti dt3, ti ts, ti ch, ti vc, ti tx, ti bi, ti vb, ti bl, ti en, ti se from ty union all select dt, dt3, ts, ch, vc, tx, bi, vb, bl, en, se from ty;
-- > 1999-12-31 00:00:00	2000-01-01 00:00:00.500	2001-01-01 01:00:00.00	B	10	""	"B\x00\x00\x00\x00\x00\x00\x00\x00\x00"	10	""	yyyyy	p
-- > 2023-11-13 13:48:48	2023-11-13 13:48:48.000	2023-11-13 13:48:48.00	-10:11:12	-10:11:12	-10:11:12	"-10:11:12\x00"	-10:11:12	-10:11:12	-10:11:12	-10:11:12
-- > 2023-11-18 04:00:00	2023-11-18 04:00:00.000	2023-11-18 04:00:00.00	100:00:00	100:00:00	100:00:00	"100:00:00\x00"	100:00:00	100:00:00	100:00:00	100:00:00
-- > 2024-02-03 04:05:06	2024-02-03 04:05:06.789	2024-02-03 04:05:06.78	ab	hello	a text	"ab\x00\x00\x00\x00\x00\x00\x00\x00"	bytes	a blob	z	q,p
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
create table x17 as select ti dt, ti dt3, ti ts, ti ch, ti vc, ti bi, ti vb, ti bl, ti en, ti se from ty where 0 union all select dt, dt3, ts, ch, vc, bi, vb, bl, en, se from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x17' order by ordinal_position;
-- > dt	datetime	0	NULL	NULL	NULL	0	NULL
-- > dt3	datetime	0	NULL	NULL	NULL	3	NULL
-- > ts	datetime	0	NULL	NULL	NULL	2	NULL
-- > ch	char	0	10	NULL	NULL	NULL	utf8mb4
-- > vc	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > bi	binary	0	10	NULL	NULL	NULL	NULL
-- > vb	varbinary	0	10	NULL	NULL	NULL	NULL
-- > bl	blob	0	NULL	NULL	NULL	NULL	NULL
-- > en	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > se	varchar	0	10	NULL	NULL	NULL	utf8mb4
select t3 dt, t3 dt3, t3 ts, t3 ch, t3 vc, t3 tx, t3 bi, t3 vb, t3 bl, t3 en, t3 se from ty union all select dt, dt3, ts, ch, vc, tx, bi, vb, bl, en, se from ty;
-- > 1999-12-31 00:00:00.000	2000-01-01 00:00:00.500	2001-01-01 01:00:00.000	B	10	""	"B\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	10	""	yyyyy	p
-- > 2023-11-14 00:00:00.000	2023-11-14 00:00:00.000	2023-11-14 00:00:00.000	00:00:00.000	00:00:00.000	00:00:00.000	"00:00:00.000\x00\x00"	00:00:00.000	00:00:00.000	00:00:00.000	00:00:00.000
-- > 2023-11-14 10:11:12.345	2023-11-14 10:11:12.345	2023-11-14 10:11:12.345	10:11:12.345	10:11:12.345	10:11:12.345	"10:11:12.345\x00\x00"	10:11:12.345	10:11:12.345	10:11:12.345	10:11:12.345
-- > 2024-02-03 04:05:06.000	2024-02-03 04:05:06.789	2024-02-03 04:05:06.780	ab	hello	a text	"ab\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	bytes	a blob	z	q,p
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
create table x18 as select t3 dt, t3 dt3, t3 ts, t3 ch, t3 vc, t3 bi, t3 vb, t3 bl, t3 en, t3 se from ty where 0 union all select dt, dt3, ts, ch, vc, bi, vb, bl, en, se from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x18' order by ordinal_position;
-- > dt	datetime	0	NULL	NULL	NULL	3	NULL
-- > dt3	datetime	0	NULL	NULL	NULL	3	NULL
-- > ts	datetime	0	NULL	NULL	NULL	3	NULL
-- > ch	char	0	14	NULL	NULL	NULL	utf8mb4
-- > vc	varchar	0	14	NULL	NULL	NULL	utf8mb4
-- > bi	binary	0	14	NULL	NULL	NULL	NULL
-- > vb	varbinary	0	14	NULL	NULL	NULL	NULL
-- > bl	blob	0	NULL	NULL	NULL	NULL	NULL
-- > en	varchar	0	14	NULL	NULL	NULL	utf8mb4
-- > se	varchar	0	14	NULL	NULL	NULL	utf8mb4
select dt dt, dt dt3, dt ts, dt ch, dt vc, dt tx, dt bi, dt vb, dt bl, dt en, dt se from ty union all select dt, dt3, ts, ch, vc, tx, bi, vb, bl, en, se from ty;
-- > 1999-12-31 00:00:00	1999-12-31 00:00:00.000	1999-12-31 00:00:00.00	1999-12-31 00:00:00	1999-12-31 00:00:00	1999-12-31 00:00:00	1999-12-31 00:00:00	1999-12-31 00:00:00	1999-12-31 00:00:00	1999-12-31 00:00:00	1999-12-31 00:00:00
-- > 1999-12-31 00:00:00	2000-01-01 00:00:00.500	2001-01-01 01:00:00.00	B	10	""	"B\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	10	""	yyyyy	p
-- > 2024-02-03 04:05:06	2024-02-03 04:05:06.000	2024-02-03 04:05:06.00	2024-02-03 04:05:06	2024-02-03 04:05:06	2024-02-03 04:05:06	2024-02-03 04:05:06	2024-02-03 04:05:06	2024-02-03 04:05:06	2024-02-03 04:05:06	2024-02-03 04:05:06
-- > 2024-02-03 04:05:06	2024-02-03 04:05:06.789	2024-02-03 04:05:06.78	ab	hello	a text	"ab\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	bytes	a blob	z	q,p
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
create table x19 as select dt dt, dt dt3, dt ts, dt ch, dt vc, dt bi, dt vb, dt bl, dt en, dt se from ty where 0 union all select dt, dt3, ts, ch, vc, bi, vb, bl, en, se from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x19' order by ordinal_position;
-- > dt	datetime	0	NULL	NULL	NULL	0	NULL
-- > dt3	datetime	0	NULL	NULL	NULL	3	NULL
-- > ts	datetime	0	NULL	NULL	NULL	2	NULL
-- > ch	char	0	19	NULL	NULL	NULL	utf8mb4
-- > vc	varchar	0	19	NULL	NULL	NULL	utf8mb4
-- > bi	binary	0	19	NULL	NULL	NULL	NULL
-- > vb	varbinary	0	19	NULL	NULL	NULL	NULL
-- > bl	blob	0	NULL	NULL	NULL	NULL	NULL
-- > en	varchar	0	19	NULL	NULL	NULL	utf8mb4
-- > se	varchar	0	19	NULL	NULL	NULL	utf8mb4
select dt3 dt3, dt3 ts, dt3 ch, dt3 vc, dt3 tx, dt3 bi, dt3 vb, dt3 bl, dt3 en, dt3 se from ty union all select dt3, ts, ch, vc, tx, bi, vb, bl, en, se from ty;
-- > 2000-01-01 00:00:00.500	2000-01-01 00:00:00.500	2000-01-01 00:00:00.500	2000-01-01 00:00:00.500	2000-01-01 00:00:00.500	2000-01-01 00:00:00.500	2000-01-01 00:00:00.500	2000-01-01 00:00:00.500	2000-01-01 00:00:00.500	2000-01-01 00:00:00.500
-- > 2000-01-01 00:00:00.500	2001-01-01 01:00:00.000	B	10	""	"B\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	10	""	yyyyy	p
-- > 2024-02-03 04:05:06.789	2024-02-03 04:05:06.780	ab	hello	a text	"ab\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	bytes	a blob	z	q,p
-- > 2024-02-03 04:05:06.789	2024-02-03 04:05:06.789	2024-02-03 04:05:06.789	2024-02-03 04:05:06.789	2024-02-03 04:05:06.789	2024-02-03 04:05:06.789	2024-02-03 04:05:06.789	2024-02-03 04:05:06.789	2024-02-03 04:05:06.789	2024-02-03 04:05:06.789
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
create table x20 as select dt3 dt3, dt3 ts, dt3 ch, dt3 vc, dt3 bi, dt3 vb, dt3 bl, dt3 en, dt3 se from ty where 0 union all select dt3, ts, ch, vc, bi, vb, bl, en, se from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x20' order by ordinal_position;
-- > dt3	datetime	0	NULL	NULL	NULL	3	NULL
-- > ts	datetime	0	NULL	NULL	NULL	3	NULL
-- > ch	char	0	23	NULL	NULL	NULL	utf8mb4
-- > vc	varchar	0	23	NULL	NULL	NULL	utf8mb4
-- > bi	binary	0	23	NULL	NULL	NULL	NULL
-- > vb	varbinary	0	23	NULL	NULL	NULL	NULL
-- > bl	blob	0	NULL	NULL	NULL	NULL	NULL
-- > en	varchar	0	23	NULL	NULL	NULL	utf8mb4
-- > se	varchar	0	23	NULL	NULL	NULL	utf8mb4
select ts ts, ts ch, ts vc, ts tx, ts bi, ts vb, ts bl, ts en, ts se from ty union all select ts, ch, vc, tx, bi, vb, bl, en, se from ty;
-- > 2001-01-01 01:00:00.00	2001-01-01 01:00:00.00	2001-01-01 01:00:00.00	2001-01-01 01:00:00.00	2001-01-01 01:00:00.00	2001-01-01 01:00:00.00	2001-01-01 01:00:00.00	2001-01-01 01:00:00.00	2001-01-01 01:00:00.00
-- > 2001-01-01 01:00:00.00	B	10	""	"B\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	10	""	yyyyy	p
-- > 2024-02-03 04:05:06.78	2024-02-03 04:05:06.78	2024-02-03 04:05:06.78	2024-02-03 04:05:06.78	2024-02-03 04:05:06.78	2024-02-03 04:05:06.78	2024-02-03 04:05:06.78	2024-02-03 04:05:06.78	2024-02-03 04:05:06.78
-- > 2024-02-03 04:05:06.78	ab	hello	a text	"ab\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	bytes	a blob	z	q,p
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
create table x21 as select ts ts, ts ch, ts vc, ts bi, ts vb, ts bl, ts en, ts se from ty where 0 union all select ts, ch, vc, bi, vb, bl, en, se from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x21' order by ordinal_position;
-- > ts	timestamp	0	NULL	NULL	NULL	2	NULL
-- > ch	char	0	22	NULL	NULL	NULL	utf8mb4
-- > vc	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > bi	binary	0	22	NULL	NULL	NULL	NULL
-- > vb	varbinary	0	22	NULL	NULL	NULL	NULL
-- > bl	blob	0	NULL	NULL	NULL	NULL	NULL
-- > en	varchar	0	22	NULL	NULL	NULL	utf8mb4
-- > se	varchar	0	22	NULL	NULL	NULL	utf8mb4
select ch ch, ch vc, ch tx, ch bi, ch vb, ch bl, ch en, ch se from ty union all select ch, vc, tx, bi, vb, bl, en, se from ty;
-- > B	10	""	"B\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	10	""	yyyyy	p
-- > B	B	B	"B\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	B	B	B	B
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > ab	ab	ab	"ab\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	ab	ab	ab	ab
-- > ab	hello	a text	"ab\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	bytes	a blob	z	q,p
create table x22 as select ch ch, ch vc, ch bi, ch vb, ch bl, ch en, ch se from ty where 0 union all select ch, vc, bi, vb, bl, en, se from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x22' order by ordinal_position;
-- > ch	char	0	3	NULL	NULL	NULL	utf8mb4
-- > vc	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > bi	binary	0	12	NULL	NULL	NULL	NULL
-- > vb	varbinary	0	12	NULL	NULL	NULL	NULL
-- > bl	blob	0	NULL	NULL	NULL	NULL	NULL
-- > en	char	0	5	NULL	NULL	NULL	utf8mb4
-- > se	char	0	3	NULL	NULL	NULL	utf8mb4
select vc vc, vc tx, vc bi, vc vb, vc bl, vc en, vc se from ty union all select vc, tx, bi, vb, bl, en, se from ty;
-- > 10	""	"B\x00\x00"	10	""	yyyyy	p
-- > 10	10	10	10	10	10	10
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > hello	a text	"ab\x00"	bytes	a blob	z	q,p
-- > hello	hello	hello	hello	hello	hello	hello
create table x23 as select vc vc, vc bi, vc vb, vc bl, vc en, vc se from ty where 0 union all select vc, bi, vb, bl, en, se from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x23' order by ordinal_position;
-- > vc	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > bi	varbinary	0	40	NULL	NULL	NULL	NULL
-- > vb	varbinary	0	40	NULL	NULL	NULL	NULL
-- > bl	blob	0	NULL	NULL	NULL	NULL	NULL
-- > en	varchar	0	10	NULL	NULL	NULL	utf8mb4
-- > se	varchar	0	10	NULL	NULL	NULL	utf8mb4
select tx tx, tx bi, tx vb, tx bl, tx en, tx se from ty union all select tx, bi, vb, bl, en, se from ty;
-- > ""	""	""	""	""	""
-- > ""	"B\x00\x00"	10	""	yyyyy	p
-- > NULL	NULL	NULL	NULL	NULL	NULL
-- > NULL	NULL	NULL	NULL	NULL	NULL
-- > a text	"ab\x00"	bytes	a blob	z	q,p
-- > a text	a text	a text	a text	a text	a text
create table x24 as select tx bi, tx vb, tx bl from ty where 0 union all select bi, vb, bl from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x24' order by ordinal_position;
-- > bi	blob	0	NULL	NULL	NULL	NULL	NULL
-- > vb	blob	0	NULL	NULL	NULL	NULL	NULL
-- > bl	blob	0	NULL	NULL	NULL	NULL	NULL
select bi bi, bi vb, bi bl, bi en, bi se from ty union all select bi, vb, bl, en, se from ty;
-- > "B\x00\x00"	"B\x00\x00"	"B\x00\x00"	"B\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	"B\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
-- > "B\x00\x00"	10	""	"yyyyy\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	"p\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
-- > "ab\x00"	"ab\x00"	"ab\x00"	"ab\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	"ab\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
-- > "ab\x00"	bytes	a blob	"z\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"	"q,p\x00\x00\x00\x00\x00\x00\x00\x00\x00"
-- > NULL	NULL	NULL	NULL	NULL
-- > NULL	NULL	NULL	NULL	NULL
create table x25 as select bi bi, bi vb, bi bl, bi en, bi se from ty where 0 union all select bi, vb, bl, en, se from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x25' order by ordinal_position;
-- > bi	binary	0	3	NULL	NULL	NULL	NULL
-- > vb	varbinary	0	10	NULL	NULL	NULL	NULL
-- > bl	blob	0	NULL	NULL	NULL	NULL	NULL
-- > en	binary	0	20	NULL	NULL	NULL	NULL
-- > se	binary	0	12	NULL	NULL	NULL	NULL
select vb vb, vb bl, vb en, vb se from ty union all select vb, bl, en, se from ty;
-- > 10	""	yyyyy	p
-- > 10	10	10	10
-- > NULL	NULL	NULL	NULL
-- > NULL	NULL	NULL	NULL
-- > bytes	a blob	z	q,p
-- > bytes	bytes	bytes	bytes
create table x26 as select vb vb, vb bl, vb en, vb se from ty where 0 union all select vb, bl, en, se from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x26' order by ordinal_position;
-- > vb	varbinary	0	10	NULL	NULL	NULL	NULL
-- > bl	blob	0	NULL	NULL	NULL	NULL	NULL
-- > en	varbinary	0	20	NULL	NULL	NULL	NULL
-- > se	varbinary	0	12	NULL	NULL	NULL	NULL
select bl bl, bl en, bl se from ty union all select bl, en, se from ty;
-- > ""	""	""
-- > ""	yyyyy	p
-- > NULL	NULL	NULL
-- > NULL	NULL	NULL
-- > a blob	a blob	a blob
-- > a blob	z	q,p
create table x27 as select bl bl, bl en, bl se from ty where 0 union all select bl, en, se from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x27' order by ordinal_position;
-- > bl	blob	0	NULL	NULL	NULL	NULL	NULL
-- > en	blob	0	NULL	NULL	NULL	NULL	NULL
-- > se	blob	0	NULL	NULL	NULL	NULL	NULL
select en en, en se from ty union all select en, se from ty;
-- > NULL	NULL
-- > NULL	NULL
-- > yyyyy	p
-- > yyyyy	yyyyy
-- > z	q,p
-- > z	z
create table x28 as select en en, en se from ty where 0 union all select en, se from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x28' order by ordinal_position;
-- > en	varchar	0	5	NULL	NULL	NULL	utf8mb4
-- > se	varchar	0	5	NULL	NULL	NULL	utf8mb4
select se se from ty union all select se from ty;
-- > NULL
-- > NULL
-- > p
-- > p
-- > q,p
-- > q,p
create table x29 as select se se from ty where 0 union all select se from ty where 0;
select column_name n, data_type t, column_type like '%unsigned%' u, if(data_type like '%char' or data_type like '%binary', character_maximum_length, null) l, if(data_type='decimal', numeric_precision, null) p, if(data_type='decimal', numeric_scale, null) s, if(data_type='date', null, datetime_precision) f, character_set_name c from information_schema.columns where table_schema=database() and table_name='x29' order by ordinal_position;
-- > se	varchar	0	3	NULL	NULL	NULL	utf8mb4
select i8 a, i8 b, i8 c, i8 d, i8 e, i8 f, i8 g from ty union all select null, 1, -1, 10000000000, 1.5, 2e0, 'abcd';
-- > -7	-7	-7	-7	-7.0	-7	-7
-- > 100	100	100	100	100.0	100	100
-- > NULL	1	-1	10000000000	1.5	2	abcd
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
select u8 a, u8 b, u8 c, u8 d, u8 e, u8 f, u8 g from ty union all select null, 1, -1, 10000000000, 1.5, 2e0, 'abcd';
-- > 200	200	200	200	200.0	200	200
-- > 7	7	7	7	7.0	7	7
-- > NULL	1	-1	10000000000	1.5	2	abcd
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
select i16 a, i16 b, i16 c, i16 d, i16 e, i16 f, i16 g from ty union all select null, 1, -1, 10000000000, 1.5, 2e0, 'abcd';
-- > -300	-300	-300	-300	-300.0	-300	-300
-- > 3	3	3	3	3.0	3	3
-- > NULL	1	-1	10000000000	1.5	2	abcd
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
select u16 a, u16 b, u16 c, u16 d, u16 e, u16 f, u16 g from ty union all select null, 1, -1, 10000000000, 1.5, 2e0, 'abcd';
-- > 3	3	3	3	3.0	3	3
-- > 60000	60000	60000	60000	60000.0	60000	60000
-- > NULL	1	-1	10000000000	1.5	2	abcd
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
select i24 a, i24 b, i24 c, i24 d, i24 e, i24 f, i24 g from ty union all select null, 1, -1, 10000000000, 1.5, 2e0, 'abcd';
-- > -70000	-70000	-70000	-70000	-70000.0	-70000	-70000
-- > 8	8	8	8	8.0	8	8
-- > NULL	1	-1	10000000000	1.5	2	abcd
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
select u24 a, u24 b, u24 c, u24 d, u24 e, u24 f, u24 g from ty union all select null, 1, -1, 10000000000, 1.5, 2e0, 'abcd';
-- > 9	9	9	9	9.0	9	9
-- > 900000	900000	900000	900000	900000.0	900000	900000
-- > NULL	1	-1	10000000000	1.5	2	abcd
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
select i32 a, i32 b, i32 c, i32 d, i32 e, i32 f, i32 g from ty union all select null, 1, -1, 10000000000, 1.5, 2e0, 'abcd';
-- > -2000000000	-2000000000	-2000000000	-2000000000	-2000000000.0	-2e+09	-2000000000
-- > 10	10	10	10	10.0	10	10
-- > NULL	1	-1	10000000000	1.5	2	abcd
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
select u32 a, u32 b, u32 c, u32 d, u32 e, u32 f, u32 g from ty union all select null, 1, -1, 10000000000, 1.5, 2e0, 'abcd';
-- > 4000000000	4000000000	4000000000	4000000000	4000000000.0	4e+09	4000000000
-- > 9	9	9	9	9.0	9	9
-- > NULL	1	-1	10000000000	1.5	2	abcd
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
select i64 a, i64 b, i64 c, i64 d, i64 e, i64 f, i64 g from ty union all select null, 1, -1, 10000000000, 1.5, 2e0, 'abcd';
-- > -9000000000000000000	-9000000000000000000	-9000000000000000000	-9000000000000000000	-9000000000000000000.0	-9e+18	-9000000000000000000
-- > 11	11	11	11	11.0	11	11
-- > NULL	1	-1	10000000000	1.5	2	abcd
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
select u64 a, u64 b, u64 c, u64 d, u64 e, u64 f, u64 g from ty union all select null, 1, -1, 10000000000, 1.5, 2e0, 'abcd';
-- > 12	12	12	12	12.0	12	12
-- > 18446744073709551615	18446744073709551615	18446744073709551615	18446744073709551615	18446744073709551615.0	1.8446744073709552e+19	18446744073709551615
-- > NULL	1	-1	10000000000	1.5	2	abcd
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
select d2 a, d2 b, d2 c, d2 d, d2 e, d2 f, d2 g from ty union all select null, 1, -1, 10000000000, 1.5, 2e0, 'abcd';
-- > -12345678.50	-12345678.50	-12345678.50	-12345678.50	-12345678.50	-1.23456785e+07	-12345678.50
-- > 2.00	2.00	2.00	2.00	2.00	2	2.00
-- > NULL	1.00	-1.00	10000000000.00	1.50	2	abcd
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
select d5 a, d5 b, d5 c, d5 d, d5 e, d5 f, d5 g from ty union all select null, 1, -1, 10000000000, 1.5, 2e0, 'abcd';
-- > 123456789012345.12345	123456789012345.12345	123456789012345.12345	123456789012345.12345	123456789012345.12345	1.2345678901234512e+14	123456789012345.12345
-- > 2.50000	2.50000	2.50000	2.50000	2.50000	2.5	2.50000
-- > NULL	1.00000	-1.00000	10000000000.00000	1.50000	2	abcd
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
select f a, f b, f c, f d, f e, f f, f g from ty union all select null, 1, -1, 10000000000, 1.5, 2e0, 'abcd';
-- > -1024	-1024	-1024	-1024	-1024	-1024	-1024
-- > 0.5	0.5	0.5	0.5	0.5	0.5	0.5
-- > NULL	1	-1	1e+10	1.5	2	abcd
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
select d a, d b, d c, d d, d e, d f, d g from ty union all select null, 1, -1, 10000000000, 1.5, 2e0, 'abcd';
-- > -1024.5	-1024.5	-1024.5	-1024.5	-1024.5	-1024.5	-1024.5
-- > 0.00125	0.00125	0.00125	0.00125	0.00125	0.00125	0.00125
-- > NULL	1	-1	1e+10	1.5	2	abcd
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
select b a, b b, b c, b d, b e, b f, b g from ty union all select null, 1, -1, 10000000000, 1.5, 2e0, 'abcd';
-- > "\x00\x01"	1	1	1	1	1	1
-- > "\x01A"	321	321	321	321	321	321
-- > NULL	1	-1	10000000000	1.5	2	abcd
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
select y a, y b, y c, y d, y e, y f, y g from ty union all select null, 1, -1, 10000000000, 1.5, 2e0, 'abcd';
-- > 1999	1999	1999	1999	1999.0	1999	1999
-- > 2024	2024	2024	2024	2024.0	2024	2024
-- > NULL	1	-1	10000000000	1.5	2	abcd
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
select da a, da b, da c, da d, da e, da f, da g from ty union all select null, 1, -1, 10000000000, 1.5, 2e0, 'abcd';
-- > 1999-12-31	1999-12-31	1999-12-31	1999-12-31	1999-12-31	1999-12-31	1999-12-31
-- > 2024-02-03	2024-02-03	2024-02-03	2024-02-03	2024-02-03	2024-02-03	2024-02-03
-- > NULL	1	-1	10000000000	1.5	2	abcd
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
select ti a, ti b, ti c, ti d, ti e, ti f, ti g from ty union all select null, 1, -1, 10000000000, 1.5, 2e0, 'abcd';
-- > -10:11:12	-10:11:12	-10:11:12	-10:11:12	-10:11:12	-10:11:12	-10:11:12
-- > 100:00:00	100:00:00	100:00:00	100:00:00	100:00:00	100:00:00	100:00:00
-- > NULL	1	-1	10000000000	1.5	2	abcd
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
select dt a, dt b, dt c, dt d, dt e, dt f, dt g from ty union all select null, 1, -1, 10000000000, 1.5, 2e0, 'abcd';
-- > 1999-12-31 00:00:00	1999-12-31 00:00:00	1999-12-31 00:00:00	1999-12-31 00:00:00	1999-12-31 00:00:00	1999-12-31 00:00:00	1999-12-31 00:00:00
-- > 2024-02-03 04:05:06	2024-02-03 04:05:06	2024-02-03 04:05:06	2024-02-03 04:05:06	2024-02-03 04:05:06	2024-02-03 04:05:06	2024-02-03 04:05:06
-- > NULL	1	-1	10000000000	1.5	2	abcd
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
select dt3 a, dt3 b, dt3 c, dt3 d, dt3 e, dt3 f, dt3 g from ty union all select null, 1, -1, 10000000000, 1.5, 2e0, 'abcd';
-- > 2000-01-01 00:00:00.500	2000-01-01 00:00:00.500	2000-01-01 00:00:00.500	2000-01-01 00:00:00.500	2000-01-01 00:00:00.500	2000-01-01 00:00:00.500	2000-01-01 00:00:00.500
-- > 2024-02-03 04:05:06.789	2024-02-03 04:05:06.789	2024-02-03 04:05:06.789	2024-02-03 04:05:06.789	2024-02-03 04:05:06.789	2024-02-03 04:05:06.789	2024-02-03 04:05:06.789
-- > NULL	1	-1	10000000000	1.5	2	abcd
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
select ts a, ts b, ts c, ts d, ts e, ts f, ts g from ty union all select null, 1, -1, 10000000000, 1.5, 2e0, 'abcd';
-- > 2001-01-01 01:00:00.00	2001-01-01 01:00:00.00	2001-01-01 01:00:00.00	2001-01-01 01:00:00.00	2001-01-01 01:00:00.00	2001-01-01 01:00:00.00	2001-01-01 01:00:00.00
-- > 2024-02-03 04:05:06.78	2024-02-03 04:05:06.78	2024-02-03 04:05:06.78	2024-02-03 04:05:06.78	2024-02-03 04:05:06.78	2024-02-03 04:05:06.78	2024-02-03 04:05:06.78
-- > NULL	1	-1	10000000000	1.5	2	abcd
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
select ch a, ch b, ch c, ch d, ch e, ch f, ch g from ty union all select null, 1, -1, 10000000000, 1.5, 2e0, 'abcd';
-- > B	B	B	B	B	B	B
-- > NULL	1	-1	10000000000	1.5	2	abcd
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > ab	ab	ab	ab	ab	ab	ab
select vc a, vc b, vc c, vc d, vc e, vc f, vc g from ty union all select null, 1, -1, 10000000000, 1.5, 2e0, 'abcd';
-- > 10	10	10	10	10	10	10
-- > NULL	1	-1	10000000000	1.5	2	abcd
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > hello	hello	hello	hello	hello	hello	hello
select tx a, tx b, tx c, tx d, tx e, tx f, tx g from ty union all select null, 1, -1, 10000000000, 1.5, 2e0, 'abcd';
-- > ""	""	""	""	""	""	""
-- > NULL	1	-1	10000000000	1.5	2	abcd
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > a text	a text	a text	a text	a text	a text	a text
select vb a, vb b, vb c, vb d, vb e, vb f, vb g from ty union all select null, 1, -1, 10000000000, 1.5, 2e0, 'abcd';
-- > 10	10	10	10	10	10	10
-- > NULL	1	-1	10000000000	1.5	2	abcd
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > bytes	bytes	bytes	bytes	bytes	bytes	bytes
select bl a, bl b, bl c, bl d, bl e, bl f, bl g from ty union all select null, 1, -1, 10000000000, 1.5, 2e0, 'abcd';
-- > ""	""	""	""	""	""	""
-- > NULL	1	-1	10000000000	1.5	2	abcd
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > a blob	a blob	a blob	a blob	a blob	a blob	a blob
select en a, en b, en c, en d, en e, en f, en g from ty union all select null, 1, -1, 10000000000, 1.5, 2e0, 'abcd';
-- > NULL	1	-1	10000000000	1.5	2	abcd
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > yyyyy	yyyyy	yyyyy	yyyyy	yyyyy	yyyyy	yyyyy
-- > z	z	z	z	z	z	z
select se a, se b, se c, se d, se e, se f, se g from ty union all select null, 1, -1, 10000000000, 1.5, 2e0, 'abcd';
-- > NULL	1	-1	10000000000	1.5	2	abcd
-- > NULL	NULL	NULL	NULL	NULL	NULL	NULL
-- > p	p	p	p	p	p	p
-- > q,p	q,p	q,p	q,p	q,p	q,p	q,p
select i32 q from ty union select d from ty order by q;
-- > NULL
-- > -2e+09
-- > -1024.5
-- > 0.00125
-- > 10
select count(*), min(q), max(q) from (select i32 q from ty union all select d from ty) x;
-- > 6	-2e+09	10
select q from (select d q from ty union all select i32 from ty) x where q >= (select max(i32) from ty) order by 1;
-- > 10
select i8 q from ty union select d2 from ty order by q;
-- > NULL
-- > -12345678.50
-- > -7.00
-- > 2.00
-- > 100.00
select count(*), min(q), max(q) from (select i8 q from ty union all select d2 from ty) x;
-- > 6	-12345678.50	100.00
select q from (select d2 q from ty union all select i8 from ty) x where q >= (select max(i8) from ty) order by 1;
-- > 100.00
select u64 q from ty union select i64 from ty order by q;
-- > NULL
-- > -9000000000000000000
-- > 11
-- > 12
-- > 18446744073709551615
select count(*), min(q), max(q) from (select u64 q from ty union all select i64 from ty) x;
-- > 6	-9000000000000000000	18446744073709551615
select q from (select i64 q from ty union all select u64 from ty) x where q >= (select max(u64) from ty) order by 1;
-- > 18446744073709551615
select f q from ty union select i32 from ty order by q;
-- > NULL
-- > -2e+09
-- > -1024
-- > 0.5
-- > 10
select count(*), min(q), max(q) from (select f q from ty union all select i32 from ty) x;
-- > 6	-2e+09	10
select q from (select i32 q from ty union all select f from ty) x where q >= (select max(f) from ty) order by 1;
-- > 0.5
-- > 10
select da q from ty union select dt3 from ty order by q;
-- > NULL
-- > 1999-12-31 00:00:00.000
-- > 2000-01-01 00:00:00.500
-- > 2024-02-03 00:00:00.000
-- > 2024-02-03 04:05:06.789
select count(*), min(q), max(q) from (select da q from ty union all select dt3 from ty) x;
-- > 6	1999-12-31 00:00:00.000	2024-02-03 04:05:06.789
select q from (select dt3 q from ty union all select da from ty) x where q >= (select max(da) from ty) order by 1;
-- > 2024-02-03 00:00:00.000
-- > 2024-02-03 04:05:06.789
select ti q from ty union select dt from ty order by q;
-- > NULL
-- > 1999-12-31 00:00:00
-- > 2023-11-13 13:48:48
-- > 2023-11-18 04:00:00
-- > 2024-02-03 04:05:06
select count(*), min(q), max(q) from (select ti q from ty union all select dt from ty) x;
-- > 6	1999-12-31 00:00:00	2024-02-03 04:05:06
select en q from ty union select en from ty order by q;
-- > NULL
-- > yyyyy
-- > z
select count(*), min(q), max(q) from (select en q from ty union all select en from ty) x;
-- > 6	yyyyy	z
select vc q from ty union select i32 from ty order by q;
-- > NULL
-- > -2000000000
-- > 10
-- > hello
select count(*), min(q), max(q) from (select vc q from ty union all select i32 from ty) x;
-- > 6	-2000000000	hello
select q from (select i32 q from ty union all select vc from ty) x where q >= (select max(vc) from ty) order by 1;
-- > hello
select ch q from ty union select vc from ty order by q;
-- > NULL
-- > 10
-- > ab
-- > B
-- > hello
select count(*), min(q), max(q) from (select ch q from ty union all select vc from ty) x;
-- > 6	10	hello
select q from (select vc q from ty union all select ch from ty) x where q >= (select max(ch) from ty) order by 1;
-- > B
-- > hello
select b q from ty union select i8 from ty order by q;
-- > NULL
-- > -7
-- > 1
-- > 100
-- > 321
select count(*), min(q), max(q) from (select b q from ty union all select i8 from ty) x;
-- > 6	-7	321
select q from (select i8 q from ty union all select b from ty) x where q >= (select max(b) from ty) order by 1;
-- > 321
select y q from ty union select d5 from ty order by q;
-- > NULL
-- > 2.50000
-- > 1999.00000
-- > 2024.00000
-- > 123456789012345.12345
select count(*), min(q), max(q) from (select y q from ty union all select d5 from ty) x;
-- > 6	2.50000	123456789012345.12345
select q from (select d5 q from ty union all select y from ty) x where q >= (select max(y) from ty) order by 1;
-- > 2024.00000
-- > 123456789012345.12345
select ts q from ty union select dt3 from ty order by q;
-- > NULL
-- > 2000-01-01 00:00:00.500
-- > 2001-01-01 01:00:00.000
-- > 2024-02-03 04:05:06.780
-- > 2024-02-03 04:05:06.789
select count(*), min(q), max(q) from (select ts q from ty union all select dt3 from ty) x;
-- > 6	2000-01-01 00:00:00.500	2024-02-03 04:05:06.789
select q from (select dt3 q from ty union all select ts from ty) x where q >= (select max(ts) from ty) order by 1;
-- > 2024-02-03 04:05:06.780
-- > 2024-02-03 04:05:06.789
select bi q from ty union select vc from ty order by q;
-- > NULL
-- > 10
-- > "B\x00\x00"
-- > "ab\x00"
-- > hello
select count(*), min(q), max(q) from (select bi q from ty union all select vc from ty) x;
-- > 6	10	hello
select q from (select vc q from ty union all select bi from ty) x where q >= (select max(bi) from ty) order by 1;
-- > "ab\x00"
-- > hello
select se q from ty union select en from ty order by q;
-- > NULL
-- > p
-- > q,p
-- > yyyyy
-- > z
select count(*), min(q), max(q) from (select se q from ty union all select en from ty) x;
-- > 6	p	z
select q from (select en q from ty union all select se from ty) x where q >= (select max(se) from ty) order by 1;
-- > q,p
-- > yyyyy
-- > z
select d2 q from ty union select vc from ty order by q;
-- > NULL
-- > -12345678.50
-- > 10
-- > 2.00
-- > hello
select count(*), min(q), max(q) from (select d2 q from ty union all select vc from ty) x;
-- > 6	-12345678.50	hello
select q from (select vc q from ty union all select d2 from ty) x where q >= (select max(d2) from ty) order by 1;
-- > 10
-- > 2.00
