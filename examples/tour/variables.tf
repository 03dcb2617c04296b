variable "name" {
  type = string
}

variable "cluster" {
  type = object({ env = string })
}
