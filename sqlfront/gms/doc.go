// Package gms mends what go-mysql-server does wrong with plans, as far as that needs to know nothing
// of our tables, sessions and transactions. DEFECTS.md lists each defect with what shows it, and
// when its mending may go.
//
//	complete     what is above groups and windows: columns that were forgotten
//	dependence   ONLY_FULL_GROUP_BY: which columns depend on what a query groups by
//	exists       conditions with subqueries, which become joins that mean something else
//	anyrow       EXISTS that says the same for each row
//	outerlookup  tables of subqueries that are looked up by columns of the outer query
//	naming       conditions with subqueries show the planner of joins their columns
//	crossjoins   cross joins that become inner ones, and joins with nothing
//	aliases      conditions on computed columns of derived tables
//	growth       such conditions that would become too large below the columns
//	joinorder    orders of joins that have lost a condition
//	joinbound    how many orders of joins are tried
//	joingreedy   an order of joins that have too many
//	nesting      EXISTS and LATERAL that are nested deep
//	sortrule     a Sort that is taken away although the rows do not come in that order
//	exact        UPDATE compares rows by their bytes
//	selected     CREATE TABLE … SELECT: which columns may be NULL
//	insertrows   rows of INSERT get all columns in a time that their number justifies
//	returning    RETURNING of REPLACE and of ON DUPLICATE KEY UPDATE, and its subqueries
//	upserts      subqueries in ON DUPLICATE KEY UPDATE
//	rules        rules of the analyzer that are wrapped
//	clock        HOUR, MINUTE and their like of texts
//	truth        dates and times as conditions
//	constants    constants in conditions, which the library evaluates before anybody has mended them
//	extreme      GREATEST and LEAST of moments and numbers
//	events       intervals of events
//	jsonvalue    JSON_VALUE with odd paths
//	unions       columns of set operations whose parts have different types
//	recursive    columns of recursive queries, which have the types of the first part
//	extract      EXTRACT of parts of a time
//
// It is to become the only room, beside the parser's grammar, that imports go-mysql-server.
package gms
