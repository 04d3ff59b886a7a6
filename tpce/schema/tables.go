package schema

// tables are the 33 tables, in the groups of the specification.
var tables = []Table{
	// Customer group.
	{
		Name: "account_permission",
		Columns: []Column{
			col("ap_ca_id", Ident), char("ap_acl", 4), char("ap_tax_id", 20), char("ap_l_name", 25),
			char("ap_f_name", 20),
		},
		PrimaryKey: key("ap_ca_id", "ap_tax_id"),
		// ap_tax_id references nobody: most executors are no customers.
		ForeignKeys: []ForeignKey{fk("customer_account", "ap_ca_id")},
	},
	{
		Name: "customer",
		Columns: []Column{
			col("c_id", Ident), char("c_tax_id", 20), char("c_st_id", 4), char("c_l_name", 25),
			char("c_f_name", 20),
			nullable(char("c_m_name", 1)), nullable(char("c_gndr", 1)),
			check(col("c_tier", Tiny), "c_tier IN (1, 2, 3)"), col("c_dob", Date), col("c_ad_id", Ident),
			nullable(char("c_ctry_1", 3)), nullable(char("c_area_1", 3)), nullable(char("c_local_1", 10)),
			nullable(char("c_ext_1", 5)),
			nullable(char("c_ctry_2", 3)), nullable(char("c_area_2", 3)), nullable(char("c_local_2", 10)),
			nullable(char("c_ext_2", 5)),
			nullable(char("c_ctry_3", 3)), nullable(char("c_area_3", 3)), nullable(char("c_local_3", 10)),
			nullable(char("c_ext_3", 5)),
			nullable(char("c_email_1", 50)), nullable(char("c_email_2", 50)),
		},
		PrimaryKey:  key("c_id"),
		ForeignKeys: []ForeignKey{fk("status_type", "c_st_id"), fk("address", "c_ad_id")},
		Indexes:     []Index{index("customer_tax_id", "c_tax_id")},
	},
	{
		Name: "customer_account",
		Columns: []Column{
			col("ca_id", Ident), col("ca_b_id", Ident), col("ca_c_id", Ident), nullable(char("ca_name", 50)),
			check(col("ca_tax_st", Tiny), "ca_tax_st IN (0, 1, 2)"), col("ca_bal", Balance),
		},
		PrimaryKey:  key("ca_id"),
		ForeignKeys: []ForeignKey{fk("broker", "ca_b_id"), fk("customer", "ca_c_id")},
		Indexes:     []Index{index("customer_account_c_id", "ca_c_id")},
	},
	{
		Name:        "customer_taxrate",
		Columns:     []Column{char("cx_tx_id", 4), col("cx_c_id", Ident)},
		PrimaryKey:  key("cx_c_id", "cx_tx_id"),
		ForeignKeys: []ForeignKey{fk("taxrate", "cx_tx_id"), fk("customer", "cx_c_id")},
	},
	{
		Name: "holding",
		Columns: []Column{
			col("h_t_id", Trade), col("h_ca_id", Ident), char("h_s_symb", 15), col("h_dts", DateTime),
			check(col("h_price", Price), "h_price > 0"), col("h_qty", Quantity),
		},
		PrimaryKey:  key("h_t_id"),
		ForeignKeys: []ForeignKey{fk("trade", "h_t_id"), fk("holding_summary", "h_ca_id", "h_s_symb")},
		Indexes:     []Index{index("holding_account_symbol", "h_ca_id", "h_s_symb", "h_dts")},
	},
	{
		Name: "holding_history",
		Columns: []Column{
			col("hh_h_t_id", Trade), col("hh_t_id", Trade), col("hh_before_qty", Quantity),
			col("hh_after_qty", Quantity),
		},
		PrimaryKey: key("hh_h_t_id", "hh_t_id"),
		// Both columns reference trade, not holding: the lot may be gone.
		ForeignKeys: []ForeignKey{fk("trade", "hh_h_t_id"), fk("trade", "hh_t_id")},
		Indexes:     []Index{index("holding_history_t_id", "hh_t_id")},
	},
	{
		Name:        "holding_summary",
		Columns:     []Column{col("hs_ca_id", Ident), char("hs_s_symb", 15), col("hs_qty", Quantity)},
		PrimaryKey:  key("hs_ca_id", "hs_s_symb"),
		ForeignKeys: []ForeignKey{fk("customer_account", "hs_ca_id"), fk("security", "hs_s_symb")},
	},
	{
		Name:        "watch_item",
		Columns:     []Column{col("wi_wl_id", Ident), char("wi_s_symb", 15)},
		PrimaryKey:  key("wi_wl_id", "wi_s_symb"),
		ForeignKeys: []ForeignKey{fk("watch_list", "wi_wl_id"), fk("security", "wi_s_symb")},
	},
	{
		Name:        "watch_list",
		Columns:     []Column{col("wl_id", Ident), col("wl_c_id", Ident)},
		PrimaryKey:  key("wl_id"),
		ForeignKeys: []ForeignKey{fk("customer", "wl_c_id")},
		Indexes:     []Index{index("watch_list_c_id", "wl_c_id")},
	},

	// Broker group.
	{
		Name: "broker",
		Columns: []Column{
			col("b_id", Ident), char("b_st_id", 4), char("b_name", 49), col("b_num_trades", Quantity),
			col("b_comm_total", Balance),
		},
		PrimaryKey:  key("b_id"),
		ForeignKeys: []ForeignKey{fk("status_type", "b_st_id")},
		Indexes:     []Index{index("broker_name", "b_name")},
	},
	{
		Name: "cash_transaction",
		Columns: []Column{col("ct_t_id", Trade), col("ct_dts", DateTime), col("ct_amt", Value),
			nullable(char("ct_name", 100))},
		PrimaryKey:  key("ct_t_id"),
		ForeignKeys: []ForeignKey{fk("trade", "ct_t_id")},
	},
	{
		Name: "charge",
		Columns: []Column{
			char("ch_tt_id", 3), check(col("ch_c_tier", Tiny), "ch_c_tier IN (1, 2, 3)"),
			check(col("ch_chrg", Value), "ch_chrg >= 0"),
		},
		PrimaryKey:  key("ch_tt_id", "ch_c_tier"),
		ForeignKeys: []ForeignKey{fk("trade_type", "ch_tt_id")},
	},
	{
		Name: "commission_rate",
		Columns: []Column{
			check(col("cr_c_tier", Tiny), "cr_c_tier IN (1, 2, 3)"), char("cr_tt_id", 3), char("cr_ex_id", 6),
			check(col("cr_from_qty", Quantity), "cr_from_qty >= 0"),
			check(col("cr_to_qty", Quantity), "cr_to_qty > cr_from_qty"),
			check(col("cr_rate", Rate), "cr_rate >= 0"),
		},
		PrimaryKey:  key("cr_c_tier", "cr_tt_id", "cr_ex_id", "cr_from_qty"),
		ForeignKeys: []ForeignKey{fk("trade_type", "cr_tt_id"), fk("exchange", "cr_ex_id")},
	},
	{
		Name: "settlement",
		Columns: []Column{
			col("se_t_id", Trade), char("se_cash_type", 40), col("se_cash_due_date", Date),
			col("se_amt", Value),
		},
		PrimaryKey:  key("se_t_id"),
		ForeignKeys: []ForeignKey{fk("trade", "se_t_id")},
	},
	{
		Name: "trade",
		Columns: []Column{
			col("t_id", Trade), col("t_dts", DateTime), char("t_st_id", 4), char("t_tt_id", 3),
			check(col("t_is_cash", Tiny), "t_is_cash IN (0, 1)"), char("t_s_symb", 15),
			check(col("t_qty", Quantity), "t_qty > 0"), check(col("t_bid_price", Price), "t_bid_price > 0"),
			col("t_ca_id", Ident), char("t_exec_name", 49), nullable(col("t_trade_price", Price)),
			check(col("t_chrg", Value), "t_chrg >= 0"), check(col("t_comm", Value), "t_comm >= 0"),
			check(col("t_tax", Value), "t_tax >= 0"),
			check(col("t_lifo", Tiny), "t_lifo IN (0, 1)"),
		},
		PrimaryKey: key("t_id"),
		ForeignKeys: []ForeignKey{
			fk("status_type", "t_st_id"), fk("trade_type", "t_tt_id"), fk("security", "t_s_symb"),
			fk("customer_account", "t_ca_id"),
		},
		// The time belongs into both indexes: every reader wants "the latest n" or "the first n after" of
		// one account or symbol.
		Indexes: []Index{index("trade_account_dts", "t_ca_id", "t_dts"),
			index("trade_symbol_dts", "t_s_symb", "t_dts")},
	},
	{
		Name:        "trade_history",
		Columns:     []Column{col("th_t_id", Trade), col("th_dts", DateTime), char("th_st_id", 4)},
		PrimaryKey:  key("th_t_id", "th_st_id"),
		ForeignKeys: []ForeignKey{fk("trade", "th_t_id"), fk("status_type", "th_st_id")},
	},
	{
		Name: "trade_request",
		Columns: []Column{
			col("tr_t_id", Trade), char("tr_tt_id", 3), char("tr_s_symb", 15),
			check(col("tr_qty", Quantity), "tr_qty > 0"),
			check(col("tr_bid_price", Price), "tr_bid_price > 0"), col("tr_b_id", Ident),
		},
		PrimaryKey: key("tr_t_id"),
		ForeignKeys: []ForeignKey{
			fk("trade", "tr_t_id"), fk("trade_type", "tr_tt_id"), fk("security", "tr_s_symb"),
			fk("broker", "tr_b_id"),
		},
		Indexes: []Index{
			index("trade_request_symbol", "tr_s_symb", "tr_tt_id", "tr_bid_price"),
			index("trade_request_b_id", "tr_b_id"),
		},
	},
	{
		Name: "trade_type",
		Columns: []Column{
			char("tt_id", 3), char("tt_name", 12),
			check(col("tt_is_sell", Tiny), "tt_is_sell IN (0, 1)"),
			check(col("tt_is_mrkt", Tiny), "tt_is_mrkt IN (0, 1)"),
		},
		PrimaryKey: key("tt_id"),
	},

	// Market group.
	{
		Name: "company",
		Columns: []Column{
			col("co_id", Ident), char("co_st_id", 4), char("co_name", 60), char("co_in_id", 2),
			char("co_sp_rate", 4),
			char("co_ceo", 46), col("co_ad_id", Ident), char("co_desc", 150), col("co_open_date", Date),
		},
		PrimaryKey: key("co_id"),
		ForeignKeys: []ForeignKey{fk("status_type", "co_st_id"), fk("industry", "co_in_id"),
			fk("address", "co_ad_id")},
		Indexes: []Index{index("company_name", "co_name"),
			index("company_industry", "co_in_id", "co_id")},
	},
	{
		Name:       "company_competitor",
		Columns:    []Column{col("cp_co_id", Ident), col("cp_comp_co_id", Ident), char("cp_in_id", 2)},
		PrimaryKey: key("cp_co_id", "cp_comp_co_id", "cp_in_id"),
		ForeignKeys: []ForeignKey{fk("company", "cp_co_id"), fk("company", "cp_comp_co_id"),
			fk("industry", "cp_in_id")},
	},
	{
		Name: "daily_market",
		Columns: []Column{
			col("dm_date", Date), char("dm_s_symb", 15), col("dm_close", Price), col("dm_high", Price),
			col("dm_low", Price), col("dm_vol", Count),
		},
		PrimaryKey:  key("dm_s_symb", "dm_date"),
		ForeignKeys: []ForeignKey{fk("security", "dm_s_symb")},
	},
	{
		Name: "exchange",
		Columns: []Column{
			char("ex_id", 6), char("ex_name", 100), col("ex_num_symb", Quantity), col("ex_open", Small),
			col("ex_close", Small),
			nullable(char("ex_desc", 150)), col("ex_ad_id", Ident),
		},
		PrimaryKey:  key("ex_id"),
		ForeignKeys: []ForeignKey{fk("address", "ex_ad_id")},
	},
	{
		Name: "financial",
		Columns: []Column{
			col("fi_co_id", Ident), col("fi_year", Small),
			check(col("fi_qtr", Tiny), "fi_qtr IN (1, 2, 3, 4)"), col("fi_qtr_start_date", Date),
			col("fi_revenue", FinAgg), col("fi_net_earn", FinAgg), col("fi_basic_eps", Value),
			col("fi_dilut_eps", Value),
			col("fi_margin", Value), col("fi_inventory", FinAgg), col("fi_assets", FinAgg),
			col("fi_liability", FinAgg),
			col("fi_out_basic", Count), col("fi_out_dilut", Count),
		},
		PrimaryKey:  key("fi_co_id", "fi_year", "fi_qtr"),
		ForeignKeys: []ForeignKey{fk("company", "fi_co_id")},
	},
	{
		Name:        "industry",
		Columns:     []Column{char("in_id", 2), char("in_name", 50), char("in_sc_id", 2)},
		PrimaryKey:  key("in_id"),
		ForeignKeys: []ForeignKey{fk("sector", "in_sc_id")},
		Indexes:     []Index{index("industry_name", "in_name"), index("industry_sector", "in_sc_id")},
	},
	{
		Name: "last_trade",
		Columns: []Column{
			char("lt_s_symb", 15), col("lt_dts", DateTime), col("lt_price", Price),
			col("lt_open_price", Price), col("lt_vol", Count),
		},
		PrimaryKey:  key("lt_s_symb"),
		ForeignKeys: []ForeignKey{fk("security", "lt_s_symb")},
	},
	{
		Name: "news_item",
		Columns: []Column{
			col("ni_id", Ident), char("ni_headline", 80), char("ni_summary", 255), col("ni_item", Text),
			col("ni_dts", DateTime),
			char("ni_source", 30), nullable(char("ni_author", 30)),
		},
		PrimaryKey: key("ni_id"),
	},
	{
		Name:        "news_xref",
		Columns:     []Column{col("nx_ni_id", Ident), col("nx_co_id", Ident)},
		PrimaryKey:  key("nx_co_id", "nx_ni_id"),
		ForeignKeys: []ForeignKey{fk("news_item", "nx_ni_id"), fk("company", "nx_co_id")},
	},
	{
		Name:       "sector",
		Columns:    []Column{char("sc_id", 2), char("sc_name", 30)},
		PrimaryKey: key("sc_id"),
		Indexes:    []Index{index("sector_name", "sc_name")},
	},
	{
		Name: "security",
		Columns: []Column{
			char("s_symb", 15), char("s_issue", 6), char("s_st_id", 4), char("s_name", 70),
			char("s_ex_id", 6), col("s_co_id", Ident),
			col("s_num_out", Count), col("s_start_date", Date), col("s_exch_date", Date), col("s_pe", Value),
			col("s_52wk_high", Price), col("s_52wk_high_date", Date), col("s_52wk_low", Price),
			col("s_52wk_low_date", Date),
			col("s_dividend", Value), col("s_yield", Rate),
		},
		PrimaryKey: key("s_symb"),
		ForeignKeys: []ForeignKey{fk("status_type", "s_st_id"), fk("exchange", "s_ex_id"),
			fk("company", "s_co_id")},
		Indexes: []Index{index("security_company_issue", "s_co_id", "s_issue")},
	},

	// Dimension group.
	{
		Name: "address",
		Columns: []Column{
			col("ad_id", Ident), nullable(char("ad_line1", 80)), nullable(char("ad_line2", 80)),
			char("ad_zc_code", 12), nullable(char("ad_ctry", 80)),
		},
		PrimaryKey:  key("ad_id"),
		ForeignKeys: []ForeignKey{fk("zip_code", "ad_zc_code")},
	},
	{
		Name:       "status_type",
		Columns:    []Column{char("st_id", 4), char("st_name", 10)},
		PrimaryKey: key("st_id"),
	},
	{
		Name: "taxrate",
		Columns: []Column{char("tx_id", 4), char("tx_name", 50),
			check(col("tx_rate", TaxRate), "tx_rate >= 0")},
		PrimaryKey: key("tx_id"),
	},
	{
		Name:       "zip_code",
		Columns:    []Column{char("zc_code", 12), char("zc_town", 80), char("zc_div", 80)},
		PrimaryKey: key("zc_code"),
	},
}
