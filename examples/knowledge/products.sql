CREATE TABLE products (name TEXT PRIMARY KEY, price_eur REAL, weight_kg REAL, stock INTEGER);
INSERT INTO products VALUES ('Aria 2', 149.00, 1.8, 12), ('Lark', 59.00, 0.6, 0), ('Heron 300', 489.00, 7.4, 3);
