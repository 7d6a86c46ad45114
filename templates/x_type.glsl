layout(constant_id = @{id.x_type}) const uint X_TYPE = 0;  // how x is stored: 0 as f32, 1 as f16, 2 as bf16
