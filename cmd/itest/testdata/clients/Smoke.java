import java.math.BigDecimal;
import java.sql.*;
import java.util.Arrays;
import java.util.Objects;

/** A smoke of MariaDB Connector/J: typed values both ways, transactions, errors. Usage: Smoke HOST PORT. */
public class Smoke {
    static void check(String what, Object got, Object want) {
        if (!(got instanceof byte[] && want instanceof byte[] ? Arrays.equals((byte[]) got, (byte[]) want) : Objects.equals(got, want)))
            throw new AssertionError(what + ": got " + got + ", want " + want);
    }

    static final String COLUMNS = "i8,u64,d,f,f4,s,b,l,dt,da,ti,n,e,j,yesno";

    public static void main(String[] args) throws Exception {
        String server = "jdbc:mariadb://" + args[0] + ":" + args[1] + "/";
        try (Connection c = DriverManager.getConnection(server + "?user=root"); Statement s = c.createStatement()) {
            s.execute("CREATE DATABASE jdbc");
            s.execute("USE jdbc");
            s.execute("CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, i8 TINYINT, u64 BIGINT UNSIGNED, d DECIMAL(20,4), f DOUBLE, f4 FLOAT,"
                + " s VARCHAR(40), b VARBINARY(40), l LONGTEXT, dt DATETIME(6), da DATE, ti TIME, n INT, e ENUM('x','y'), j JSON, yesno TINYINT(1), UNIQUE KEY by_s (s))");
        }
        run(server + "jdbc?user=root", "text");
        run(server + "jdbc?user=root&useServerPrepStmts=true&cachePrepStmts=true", "binary");
        run(server + "jdbc?user=root&useServerPrepStmts=true&rewriteBatchedStatements=true&allowMultiQueries=true", "rewritten");
        System.out.println("Connector/J " + DriverManager.getDriver(server).getMajorVersion() + "." + DriverManager.getDriver(server).getMinorVersion() + " ok");
    }

    static void run(String url, String text) throws Exception {
        byte[] bytes = new byte[40];
        for (int i = 0; i < bytes.length; i++) bytes[i] = (byte) (i * 7);
        Object[] row = {-128, new BigDecimal("18446744073709551615"), new BigDecimal("-1234567890123456.7891"), 0.1, 1.5f, text + " größer 😀 '\\\"",
            bytes, "x".repeat(100000), Timestamp.valueOf("2024-02-29 23:59:59.123456"), Date.valueOf("2024-02-29"), Time.valueOf("13:14:15"), null, "y", "{\"a\": [1, \"z\"]}", true};
        try (Connection c = DriverManager.getConnection(url); Connection other = DriverManager.getConnection(url)) {
            check("autocommit", c.getAutoCommit(), true);
            c.createStatement().executeUpdate("DELETE FROM t");
            c.setAutoCommit(false);
            try (PreparedStatement p = c.prepareStatement("INSERT INTO t (" + COLUMNS + ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", Statement.RETURN_GENERATED_KEYS)) {
                for (int i = 0; i < row.length; i++) p.setObject(i + 1, row[i]);
                check(text + " count", p.executeUpdate(), 1);
                try (ResultSet keys = p.getGeneratedKeys()) {
                    check("keys", keys.next() && keys.getInt(1) > 0, true);
                }
            }
            check(text + " rows before commit", count(other), 0L);
            c.commit();
            check(text + " rows after commit", count(other), 1L);
            try (PreparedStatement p = c.prepareStatement("SELECT " + COLUMNS + " FROM t WHERE s = ?")) {
                p.setString(1, (String) row[5]);
                try (ResultSet r = p.executeQuery()) {
                    check("row", r.next(), true);
                    check("i8", r.getInt(1), row[0]);
                    check("u64", r.getBigDecimal(2), row[1]);
                    check("d", r.getBigDecimal(3), row[2]);
                    check("f", r.getDouble(4), row[3]);
                    check("f4", r.getFloat(5), row[4]);
                    check("s", r.getString(6), row[5]);
                    check("b", r.getBytes(7), row[6]);
                    check("l", r.getString(8), row[7]);
                    check("dt", r.getTimestamp(9), row[8]);
                    check("da", r.getDate(10), row[9]);
                    check("ti", r.getTime(11), row[10]);
                    check("n", r.getObject(12), null);
                    check("e", r.getString(13), row[12]);
                    check("j", r.getString(14), row[13]);
                    check("yesno", r.getObject(15), true);
                    check("end", r.next(), false);
                    ResultSetMetaData m = r.getMetaData();
                    check("type of d", m.getColumnType(3), Types.DECIMAL);
                    check("scale of d", m.getScale(3), 4);
                    check("table of s", m.getTableName(6), "t");
                }
            }
            c.createStatement().executeUpdate("DELETE FROM t");
            c.rollback();
            check(text + " rows after rollback", count(c), 1L);
            Savepoint sp = c.setSavepoint("sp");
            c.createStatement().executeUpdate("DELETE FROM t");
            c.rollback(sp);
            check(text + " rows after rollback to a savepoint", count(c), 1L);
            try (PreparedStatement p = c.prepareStatement("INSERT INTO t (s) VALUES (?)")) {
                p.setString(1, (String) row[5]);
                p.executeUpdate();
                throw new AssertionError("a duplicate was accepted");
            } catch (SQLIntegrityConstraintViolationException e) {
                check("number", e.getErrorCode(), 1062);
                check("state", e.getSQLState(), "23000");
            }
            try (PreparedStatement p = c.prepareStatement("INSERT INTO t (s) VALUES (?)")) {
                for (int i = 0; i < 50; i++) {
                    p.setString(1, text + i);
                    p.addBatch();
                }
                check("batch", p.executeBatch().length, 50);
            }
            c.commit();
            check(text + " rows after the batch", count(other), 51L);
            try (Statement s = c.createStatement()) {
                s.setFetchSize(7); // a cursor, or a stream
                int n = 0;
                try (ResultSet r = s.executeQuery("SELECT id FROM t ORDER BY id")) {
                    while (r.next()) n++;
                }
                check("fetched", n, 51);
            }
            try (Statement s = c.createStatement()) {
                s.execute("DROP PROCEDURE IF EXISTS several");
                s.execute("CREATE PROCEDURE several(IN n INT, OUT m INT) BEGIN SELECT n; SELECT id FROM t ORDER BY id; SET m = n * 2; END");
                s.execute("DROP FUNCTION IF EXISTS doubled");
                s.execute("CREATE FUNCTION doubled(n INT) RETURNS INT DETERMINISTIC RETURN n * 2");
            }
            try (CallableStatement s = c.prepareCall("{call several(?, ?)}")) {
                s.setInt(1, 4);
                s.registerOutParameter(2, Types.INTEGER);
                int results = 0, n = 0;
                for (boolean more = s.execute(); more || s.getUpdateCount() != -1; more = s.getMoreResults()) {
                    if (!more) continue;
                    results++;
                    try (ResultSet r = s.getResultSet()) {
                        while (r.next()) n++;
                    }
                }
                check("results of a procedure", results, 2);
                check("rows of a procedure", n, 52);
                check("OUT", s.getInt(2), 8);
            }
            try (CallableStatement s = c.prepareCall("{? = call doubled(?)}")) {
                s.registerOutParameter(1, Types.INTEGER);
                s.setInt(2, 21);
                s.execute();
                check("a function", s.getInt(1), 42);
            }
            c.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
            check("valid", c.isValid(5), true);
            try (ResultSet r = c.getMetaData().getPrimaryKeys("jdbc", null, "t")) {
                check("primary key", r.next() ? r.getString("COLUMN_NAME") : null, "id");
            }
            try (ResultSet r = c.getMetaData().getColumns("jdbc", null, "t", "%")) {
                int n = 0;
                while (r.next()) n++;
                check("columns", n, 16);
            }
            c.commit();
        }
    }

    static long count(Connection c) throws SQLException {
        try (ResultSet r = c.createStatement().executeQuery("SELECT COUNT(*) FROM t")) {
            r.next();
            return r.getLong(1);
        }
    }
}
