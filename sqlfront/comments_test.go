package sqlfront_test

import (
	"context"
	"testing"
)

// TestCommentsOfNewerServersAreComments: of statements other than CREATE what is in /*!99999 … */ was
// executed, so that an UPDATE changed all rows.
func TestCommentsOfNewerServersAreComments(t *testing.T) {
	s := newDatabase(t).serve()
	c := s.open("root", "", "?multiStatements=true")
	run(t, c, "create database d")
	c = s.open("root", "d", "?multiStatements=true")
	run(t, c, "create table t (id int primary key, a int)", "insert into t values (1, 0), (2, 0), (90, 0)")
	script{
		{"update t set a = 1 where id = 90 /*!99999 or 1=1 */", ""},
		{"update t set a = a + 1 where id = 90 /*!90000 or 1=1 */", ""},
		{"update t set a = a + 1 where id = 90 /*!080041 or 1=1 */", ""},
		{"update t set a = a + 1 where id = 90 /*!100200 or 1=1 */", ""},
		{"update t set a = a + 1 where id = 90 /*M!100200 or 1=1 */", ""},
		{"update t set a = a + 1 where id = 90 /*!80041 /* or */ or 1=1 */", ""},
		{"select * from t", "1 0;2 0;90 6"},
		{"delete from t where id = 3 /*!99999 or 1=1 */", ""},
		{"insert into t values (4, 0) /*!99999 , (5, 0) */", ""},
		{"replace into t values (4, 1) /*!99999 , (5, 0) */", ""},
		{"set @a = 1 /*!99999 + 1 */", ""},
		{"select @a, count(*) from t", "1 4"},
		{"select 1 /*!080040 + 1 */ + 1", "3"},
		{"select 1 /*!50000 + /* one */ 1 */ + 1", "3"},
		{"select 1 /*! + 1 */ /*! + 1 */", "3"},
		{"/*!99999 select 1 */ select 2", "2"},
		{"/*!50000 select 1 /*!99999 + 1 */ + 2 */", "3"},
		{"/*!99999 insert into t values (6, 0) */", ""},
		{"/* a */", ""}, {"/*!50000 */", ""}, {"/*!*/", ""},
		{"select 1 /*!50000 + 1", "error 1064"},
		{"select 1 /*!99999 + 1", "error 1064"},
		{"select 1 /*!99999 + /* 1", "error 1064"},
		{"select 1 /*!50000 + 1 # */", "error 1064"},
		{"select 1 /*!50000 + 1 /*!50000 + 1 */ */", "error 1064"},
		{"select '/*!99999 a */' as x, \"/*!1*/\" as y", "/*!99999 a */ /*!1*/"},
		{"prepare s from 'select count(*) from t where id = 90 /*!99999 or 1=1 */'", ""},
		{"execute s", "1"},
		{"create procedure p() begin delete from t where id = 5 /*!99999 or 1=1 */; " +
			"select 1 /*!50000 + 1 */; end", ""},
		{"call p()", "2"},
		{"create view v as select id from t where id = 90 /*!99999 or 1=1 */", ""},
		{"select * from v", "90"},
		{"create trigger tr before insert on t for each row set new.a = 7 /*!99999 + 1 */", ""},
		{"/*!50000 insert into t values (6, 0) */", ""},
		{"select a from t where id = 6", "7"},
		{"select count(*) from t", "5"},
	}.run(t, c)

	for range 3 { // what has a plan, too
		script{{"select count(*) from t where id = 90 /*!99999 or 1=1 */", "1"}}.run(t, c)
		stmt, err := c.PrepareContext(context.Background(),
			"select count(*) from t where id = ? /*!99999 or ? = 1 */")
		if err != nil {
			t.Fatal(err)
		}
		var n int
		if err := stmt.QueryRow(90).Scan(&n); err != nil || n != 1 {
			t.Errorf("prepared: %d, %v", n, err)
		}
		stmt.Close()
	}
	// Of several statements those before the one whose comment is not closed are run, and it is not.
	script{
		{"delete from t where id = 6; /*!50000 delete from t", "error 1064"},
		{"delete from t where id = 4 /*!99999 ; delete from t */; delete from t where id = 1", ""},
		{"select id from t", "2;90"},
	}.run(t, c)
	// What a transaction may not do it may not do in a comment.
	tx := s.open("root", "d", "")
	script{
		{"start transaction read only", ""},
		{"/*!50000 delete from t */", "error 1792"},
		{"commit", ""},
	}.run(t, tx)
}
