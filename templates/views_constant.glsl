layout(constant_id = @{id.views}) const uint VIEWS = 0;  // 1: x, y and weights lie as push constants say
