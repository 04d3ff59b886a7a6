"""MariaDB Connector/C, by way of its shared library: prepared statements with a cursor, fetched in parts."""
import ctypes
import ctypes.util
import sys

lib = ctypes.CDLL("libmariadb.so.3")
for name in ("mysql_init", "mysql_real_connect", "mysql_stmt_init"):
    getattr(lib, name).restype = ctypes.c_void_p
for name in ("mysql_error", "mysql_stmt_error"):
    getattr(lib, name).restype = ctypes.c_char_p
CURSOR_TYPE, PREFETCH_ROWS, READ_ONLY = 1, 2, 1
NO_DATA, TRUNCATED = 100, 101

db = ctypes.c_void_p(lib.mysql_init(None))
if not lib.mysql_real_connect(db, sys.argv[1].encode(), b"root", b"", None, int(sys.argv[2]), None, ctypes.c_ulong(0)):
    sys.exit(lib.mysql_error(db))


def query(text):
    if lib.mysql_real_query(db, text, ctypes.c_ulong(len(text))):
        sys.exit("%s: %s" % (text, lib.mysql_error(db)))


def prepare(text, prefetch):
    stmt = ctypes.c_void_p(lib.mysql_stmt_init(db))
    for attribute, value in ((CURSOR_TYPE, READ_ONLY), (PREFETCH_ROWS, prefetch)):
        lib.mysql_stmt_attr_set(stmt, attribute, ctypes.byref(ctypes.c_ulong(value)))
    if lib.mysql_stmt_prepare(stmt, text, ctypes.c_ulong(len(text))) or lib.mysql_stmt_execute(stmt):
        sys.exit("%s: %s" % (text, lib.mysql_stmt_error(stmt)))
    return stmt


def fetch(stmt):
    got = lib.mysql_stmt_fetch(stmt)
    if got not in (0, TRUNCATED, NO_DATA):
        sys.exit("fetch: %s" % lib.mysql_stmt_error(stmt))
    return got != NO_DATA


query(b"create database connector_c")
query(b"use connector_c")
query(b"create table n (i int primary key)")
query(b"insert into n values " + b",".join(b"(%d)" % i for i in range(10)))
for prefetch in (1, 3, 10, 1000):
    for text, rows in ((b"select i from n order by i", 10), (b"select 1", 1), (b"select i from n where i > 99", 0), (b"show tables", 1)):
        stmt = prepare(text, prefetch)
        n = 0
        while fetch(stmt):
            n += 1
        if n != rows:
            sys.exit("%s with %d rows at a time: %d rows" % (text, prefetch, n))
        lib.mysql_stmt_close(stmt)
# Two cursors at a time, and another statement between.
a, b = prepare(b"select i from n", 2), prepare(b"select i from n", 3)
for i in range(10):
    if not fetch(a) or not fetch(b):
        sys.exit("row %d is missing" % i)
    query(b"update n set i = i where i = 0")
if fetch(a) or fetch(b):
    sys.exit("more rows than there are")
query(b"drop database connector_c")
print("ok")
