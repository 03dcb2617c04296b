locals {
  app = "cart"
  replicas   = 3
}
