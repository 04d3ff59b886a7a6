-- GREATEST and LEAST of integers beside DOUBLEs, and of comparisons.
create table t(a bigint unsigned, d double, n int, m decimal(5,2));
insert into t values (18446744073709551615, 1.5, -1, 2.25), (1, 1e10, 5, -3), (null, 2, 2, 2);
-- > rows affected: 3
select greatest(a, d), least(a, d) from t order by 1;
-- > NULL	NULL
-- > 1e+10	1
-- > 1.8446744073709552e+19	1.5
select greatest(d, n = 5), least(n > 0, d, a), greatest(m, n > 0) from t order by 1, 2;
-- > 1.5	0	2.25
-- > 2	NULL	2.00
-- > 1e+10	1	1.00
select greatest(a, d, m), least(d, n), greatest(d, d, 3) from t order by 1, 2, 3;
-- > NULL	2	3
-- > 1e+10	5	1e+10
-- > 1.8446744073709552e+19	-1	3
select max(greatest(d, a)) from t where least(a, d) > 0.5;
-- > 1.8446744073709552e+19
