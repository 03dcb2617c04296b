image = "registry.example.com/cart:1.4.0"
