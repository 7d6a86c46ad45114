layout(constant_id = @{id.y_type}) const uint Y_TYPE = 0;  // of y: 0 f32, 1 f16, 2 bf16
layout(constant_id = @{id.epilogue}) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have
