// A smoke of mysql2: typed values both ways, transactions, errors. Usage: smoke.js HOST PORT
const assert = require('assert');
const mysql = require('mysql2/promise');

const columns = 'i8,u64,d,f,f4,s,b,l,dt,da,ti,y,n,e,j';

async function main(host, port) {
  const options = { host, port, user: 'root', supportBigNumbers: true, bigNumberStrings: true, dateStrings: true };
  const c = await mysql.createConnection(options);
  await c.query('CREATE DATABASE node');
  await c.changeUser({ user: 'root', database: 'node' });
  assert.strictEqual((await c.query('SELECT DATABASE() AS d'))[0][0].d, 'node');
  await c.query(`CREATE TABLE t (id INT PRIMARY KEY AUTO_INCREMENT, i8 TINYINT, u64 BIGINT UNSIGNED, d DECIMAL(20,4), f DOUBLE, f4 FLOAT,
    s VARCHAR(40), b VARBINARY(40), l LONGTEXT, dt DATETIME(6), da DATE, ti TIME, y YEAR, n INT, e ENUM('x','y'), j JSON, UNIQUE KEY by_s (s))`);
  const row = [-128, '18446744073709551615', '-1234567890123456.7891', 0.1, 1.5, "größer 😀 '\\\"", Buffer.from([...Array(40).keys()]),
    'x'.repeat(100000), '2024-02-29 23:59:59.123456', '2024-02-29', '-34:05:00', 2024, null, 'y', { a: [1, 'z'] }];
  const other = await mysql.createConnection({ ...options, database: 'node' });
  const count = async (conn) => Number((await conn.query('SELECT COUNT(*) AS n FROM t'))[0][0].n);

  for (const how of ['query', 'execute']) { // text and binary protocol
    await c.query('DELETE FROM t');
    const marks = row.map(() => '?').join(',');
    const values = row.map((v) => (v && v.a ? JSON.stringify(v) : v));
    await c.beginTransaction();
    const [done] = await c[how](`INSERT INTO t (${columns}) VALUES (${marks})`, values);
    assert.strictEqual(done.affectedRows, 1);
    assert.ok(done.insertId > 0);
    assert.strictEqual(await count(other), 0);
    await c.commit();
    assert.strictEqual(await count(other), 1);
    const [rows, fields] = await c[how](`SELECT ${columns} FROM t WHERE s = ?`, [row[5]]);
    columns.split(',').forEach((name, i) => {
      assert.deepStrictEqual(rows[0][name], row[i], `${how}: ${name}`);
      assert.strictEqual(fields[i].name, name);
    });
    await c.beginTransaction();
    await c[how]('DELETE FROM t WHERE s = ?', [row[5]]);
    assert.strictEqual(await count(c), 0);
    await c.rollback();
    assert.strictEqual(await count(c), 1);
    await assert.rejects(c[how]('INSERT INTO t (s) VALUES (?)', [row[5]]), (e) => e.errno === 1062 && e.code === 'ER_DUP_ENTRY' && e.sqlState === '23000');
    await assert.rejects(c[how]('SELEC ?', [1]), (e) => e.errno === 1064);
  }
  await c.query('INSERT INTO t (s) VALUES ?', [[...Array(100).keys()].map((i) => ['m' + i])]);
  assert.strictEqual(await count(c), 101);

  const multi = await mysql.createConnection({ ...options, database: 'node', multipleStatements: true });
  const [results] = await multi.query('SELECT 1 AS a; INSERT INTO t (s) VALUES (\'multi\'); SELECT COUNT(*) AS n FROM t');
  assert.strictEqual(Number(results[2][0].n), 102);
  await multi.end();
  await assert.rejects(c.query('SELECT 1; SELECT 2'), (e) => e.errno === 1064);

  let streamed = 0;
  const raw = require('mysql2').createConnection({ ...options, database: 'node' });
  await new Promise((resolve, reject) => raw.query('SELECT * FROM t').stream().on('data', () => streamed++).on('end', resolve).on('error', reject));
  assert.strictEqual(streamed, 102);
  raw.end();

  const pool = mysql.createPool({ ...options, database: 'node', connectionLimit: 4 });
  await Promise.all([...Array(40).keys()].map((i) => pool.execute('UPDATE t SET n = COALESCE(n, 0) + 1 WHERE s = ?', ['m0'])));
  assert.strictEqual((await pool.query("SELECT n FROM t WHERE s = 'm0'"))[0][0].n, 40);
  await pool.end();
  await c.ping();
  await c.reset();
  await c.end();
  await other.end();
  console.log('mysql2', require('mysql2/package.json').version, 'ok');
}

main(process.argv[2], Number(process.argv[3])).catch((e) => {
  console.error(e);
  process.exit(1);
});
