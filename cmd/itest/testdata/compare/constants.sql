-- Constants of dates and times, escapes, intervals, numbers at the ends of their ranges.
create table t (id int primary key, a int, s varchar(10), b bigint unsigned, f double);
insert into t values (1,10,'a',1,0.5),(2,20,'b',18446744073709551615,2.5),(3,30,'c',null,1e308);
-- > rows affected: 3
select 'a%' like 'a\%', 'ab' like 'a\%', 'a_' like 'a\_', 'ab' like 'a\_', '\%', 'x\_y\\%', '100%' like '100\%', '1000' like '100\%', "q\%";
-- > 1	0	1	0	\%	x\_y\%	1	0	q\%
select 'ab' like 'a\%%', 'a%b' like 'a\%%', 'a\\b' like 'a\\\\b', 'it\'s' like 'it\'_';
-- > 0	1	1	1
select {d '2020-01-01'}, {ts '2020-01-01 10:00:00'}, {t '10:00:00'};
-- > 2020-01-01	2020-01-01 10:00:00	10:00:00
select date '2020-01-01' as d, DATE"2020-01-02", time '10:11:12.5', timestamp '2020-01-01 10:00:00.25', date'2020-01-01' < '2020-01-02', date'20200101';
-- > 2020-01-01	2020-01-02	10:11:12.5	2020-01-01 10:00:00.25	1	2020-01-01
select date'2020-01-01' + interval 1 day, timestamp'2020-01-01 00:00:00' - interval 1 second, time'10:00:00' + 0, date'2020-01-01' + 0;
-- > 2020-01-02	2019-12-31 23:59:59	100000	20200101
select date'2020-02-31';
-- > ERROR 1525 (HY000)
select date'2020-01-01 10:00:00';
-- > ERROR 1525 (HY000)
select time'99:99:99';
-- > ERROR 1525 (HY000)
select timestamp'junk';
-- > ERROR 1525 (HY000)
create table dd (d date default '2020-05-05', e date, time time, date date comment 'x', key (e));
insert into dd (e) values (date'2020-01-01'), (date'2020-02-01');
-- > rows affected: 2
select e from dd where e = date'2020-01-01';
-- > 2020-01-01
select e from dd where e >= date'2020-01-15' and e < timestamp'2020-03-01 00:00:00';
-- > 2020-02-01
select date_add('2020-01-01', interval '1:30' minute_second), '2020-01-01' + interval '1 2' day_hour, date_sub('2020-01-01 00:00:00', interval '1.5' second_microsecond);
-- > 2020-01-01 00:01:30	2020-01-02 02:00:00	2019-12-31 23:59:58.500000
select date_add('2020-01-01', interval concat(a,':',a) hour_minute) from t;
-- > 2020-01-01 10:10:00
-- > 2020-01-01 20:20:00
-- > 2020-01-02 06:30:00
select e + interval concat('-1-', 2) year_month from dd;
-- > 2018-11-01
-- > 2018-12-01
select date_add('2020-01-01', interval '1.5' second), cast('2020-01-01' as datetime) + interval 0.25 second, '2020-01-01 00:00:00' - interval '0.000001' second;
-- > 2020-01-01 00:00:01.500000	2020-01-01 00:00:00.25	2019-12-31 23:59:59.999999
select interval(23, 1, 15, 17, 30, 44, 200), interval(10, 1, 10, 100, 1000), interval(22, 23, 30, 44, 200), interval(1.5, 1, 2), interval(null, 1);
-- > 3	2	0	1	-1
select interval(a, 10, 20) from t order by id;
-- > 1
-- > 2
-- > 2
select '2020-01-01' + interval 1 day + interval 2 hour, '2020-01-01 10:00:00' - interval 30 minute, date_add(date'2020-01-01', interval (1 + 1) day);
-- > 2020-01-02 02:00:00	2020-01-01 09:30:00	2020-01-03
select extract(day_minute from '2020-01-02 03:04:05'), extract(hour from '10:11:12'), extract(microsecond from '10:11:12.5'), extract(minute from '2020-01-01 10:11:12');
-- > 20304	10	500000	11
select timestamp('2020-01-01', '10:00:00.5'), timestamp('2020-01-01 05:00:00', '10:00:00'), timestamp(date'2020-01-01', '01:02:03');
-- > 2020-01-01 10:00:00.5	2020-01-01 15:00:00	2020-01-01 01:02:03
select round(2.5e0), round(3.5e0), round(-2.5e0), round(25e0,-1), round(0.15e0, 1), round('2.5'), round(1.25e0,1), truncate(2.99e0,1), truncate(-2.99e0, 1), round(123.456e0, -2);
-- > 2	4	-2	20	0.2	2	1.2	2.9	-2.9	100
select id, round(f) from t where id < 3 order by id;
-- > 1	0
-- > 2	2
select mod(7,2), 7%2, 7 mod -2, mod(-7,2), 7.5%2, mod(7,0), mod(18446744073709551615, 10), b % 10 from t order by id;
-- > 1	1	1	-1	1.5	NULL	5	1
-- > 1	1	1	-1	1.5	NULL	5	5
-- > 1	1	1	-1	1.5	NULL	5	NULL
select 1e308*10;
-- > ERROR 1690 (22003)
select 1e308+1e308;
-- > ERROR 1690 (22003)
select f * 10 from t where id = 3;
-- > ERROR 1690 (22003)
select 1.7e308 / 0.1e0;
-- > ERROR 1690 (22003)
select exp(1000);
-- > ERROR 1690 (22003)
select pow(10, 400);
-- > ERROR 1690 (22003)
select pow(2, 10), power(2, 0.5), exp(0), '123433221e12343121231212' / 1, '1e999' * 1;
-- > 1024	1.4142135623730951	1	1.7976931348623157e+308	1.7976931348623157e+308
select cast(18446744073709551615 as signed), cast(~0 as signed), cast(cast(-1 as unsigned) as signed), cast('18446744073709551615' as unsigned), cast(1.5 as signed);
-- > -1	-1	-1	18446744073709551615	2
select cast(b as signed) from t order by id;
-- > 1
-- > -1
-- > NULL
select if(1, 1.5, 2), if(0, 1.5, 2), ifnull(null, 2.25), ifnull(1, 2.25), coalesce(null, 1, 2.5), coalesce(1, 0.0), case when 0 then 1.5 else 2 end, greatest(1, 2.5, 2), least(1, 2.5), nullif(1.5, 1);
-- > 1.5	2.0	2.25	1.00	1.0	1.0	2.0	2.5	1.0	1.5
select sum(if(a > 10, 1.25, 0)), avg(case when a > 10 then 1.5 end), sum(ifnull(a, 0.5)) from t;
-- > 2.50	1.50000	60.0
select if(1, 1.5, 'x'), greatest(1.5, 2e0), greatest(1, 2), greatest(1.5, '2'), ifnull(1.5, 'x'), greatest(1.5, null);
-- > 1.5	2	2	2	1.5	NULL
create table made as select if(1, 1.5, 2) a, case when 1 then 1.25 else 3 end b, greatest(a, 2.5) c from t;
show columns from made;
-- > a	decimal(2,1)	NO	""	NULL	""
-- > b	decimal(3,2)	NO	""	NULL	""
-- > c	decimal(11,1)	YES	""	NULL	""
select id, cume_dist() over (order by s) between 0.1 and 0.5 from t order by id;
-- > 1	1
-- > 2	0
-- > 3	0
select id, 12 * cume_dist() over (partition by a > 10 order by id desc) > 11 from t order by id;
-- > 1	1
-- > 2	1
-- > 3	0
