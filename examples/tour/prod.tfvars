name    = "eu-1"
cluster = { env = "prod" }
