# A smoke of PyMySQL: typed values both ways, transactions, errors. Usage: smoke.py HOST PORT
import datetime
import decimal
import sys

import pymysql

host, port = sys.argv[1], int(sys.argv[2])


def check(what, got, want):
    if got != want or type(got) is not type(want):
        sys.exit("%s: got %r, want %r" % (what, got, want))


c = pymysql.connect(host=host, port=port, user="root", charset="utf8mb4")
check("autocommit after the greeting", c.get_autocommit(), False)
cur = c.cursor()
cur.execute("CREATE DATABASE py")
c.select_db("py")
cur.execute("""CREATE TABLE t (
    id INT PRIMARY KEY AUTO_INCREMENT, i8 TINYINT, u64 BIGINT UNSIGNED, d DECIMAL(20,4), f DOUBLE, f4 FLOAT, s VARCHAR(40),
    b VARBINARY(40), l LONGTEXT, dt DATETIME(6), da DATE, ti TIME, y YEAR, n INT, e ENUM('x','y'), j JSON, bi BIT(8),
    UNIQUE KEY by_s (s))""")
row = (-128, 18446744073709551615, decimal.Decimal("-1234567890123456.7891"), 0.1, 1.5, "größer 😀 '\\\"",
       bytes(range(40)), "x" * 100000, datetime.datetime(2024, 2, 29, 23, 59, 59, 123456), datetime.date(2024, 2, 29),
       datetime.timedelta(hours=34, minutes=5), 2024, None, "y", '{"a": [1, "z"]}', b"\xa5")
cur.execute("INSERT INTO t (i8,u64,d,f,f4,s,b,l,dt,da,ti,y,n,e,j,bi) VALUES (%s,%s,%s,%s,%s,%s,_binary %s,%s,%s,%s,%s,%s,%s,%s,%s,_binary %s)", row)
check("rowcount", cur.rowcount, 1)
check("lastrowid", cur.lastrowid, 1)
cur.execute("SELECT i8,u64,d,f,f4,s,b,l,dt,da,ti,y,n,e,j,bi FROM t")
names = [d[0] for d in cur.description]
for name, got, want in zip(names, cur.fetchone(), row):
    check("column " + name, got, want)

# The connection is not in autocommit: nothing is there for others before COMMIT, and ROLLBACK undoes it.
other = pymysql.connect(host=host, port=port, user="root", database="py", autocommit=True)
oc = other.cursor()
oc.execute("SELECT COUNT(*) FROM t")
check("rows before commit", oc.fetchone()[0], 0)
c.commit()
oc.execute("SELECT COUNT(*) FROM t")
check("rows after commit", oc.fetchone()[0], 1)
cur.execute("DELETE FROM t")
check("deleted", cur.rowcount, 1)
c.rollback()
cur.execute("SELECT COUNT(*) FROM t")
check("rows after rollback", cur.fetchone()[0], 1)
c.commit()

try:
    cur.execute("INSERT INTO t (s) VALUES (%s)", (row[5],))
    sys.exit("a duplicate was accepted")
except pymysql.err.IntegrityError as e:
    check("number", e.args[0], 1062)
try:
    cur.execute("SELEC 1")
    sys.exit("junk was accepted")
except pymysql.err.ProgrammingError as e:
    check("number", e.args[0], 1064)
check("executemany", cur.executemany("INSERT INTO t (s) VALUES (%s)", [("m%d" % i,) for i in range(100)]), 100)
c.commit()
with c.cursor(pymysql.cursors.SSCursor) as ss:
    ss.execute("SELECT id FROM t ORDER BY id")
    check("streamed", len(ss.fetchall()), 101)
with c.cursor(pymysql.cursors.DictCursor) as dc:
    dc.execute("SELECT COUNT(*) AS n, SUM(i8) AS s FROM t")
    check("dict", dc.fetchone(), {"n": 101, "s": decimal.Decimal("-128")})
cur.execute("CREATE PROCEDURE several(IN n INT, OUT m INT) BEGIN SELECT n; SELECT id FROM t WHERE id <= n ORDER BY id; SET m = n * 2; END")
cur.execute("SET @m = 0")
cur.execute("CALL several(1, @m)")
results = [cur.fetchall()]
while cur.nextset():
    results.append(cur.fetchall())
check("results of a procedure", results, [((1,),), ((1,),), ()])
cur.callproc("several", (2, 0))
while cur.nextset():
    pass
cur.execute("SELECT @_several_1, @m")
check("OUT", cur.fetchone(), (4, 2))
check("ping", c.ping(), None)
check("escaped", c.escape("a'b"), "'a\\'b'")
cur.close()
c.close()
print("PyMySQL", pymysql.__version__, "ok")
