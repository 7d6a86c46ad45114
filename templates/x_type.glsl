layout(constant_id = @{id.x_type}) const uint X_TYPE = 0;  // of x: 0 f32, 1 f16, 2 bf16
