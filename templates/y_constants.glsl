layout(constant_id = @{id.y_type}) const uint Y_TYPE = 0;  // how y is stored: 0 as f32, 1 as f16, 2 as bf16
layout(constant_id = @{id.epilogue}) const uint EPILOGUE = 0xffffffffu;  // bits that the epilogue may have; the rest is left out
