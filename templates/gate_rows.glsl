    if (VIEWS == 2u) {  // of rows in turn: that of the gate, number y_outer, has silu(gate) * the other
        const float other = subgroupShuffleXor(sum, 1u);
        if (n % 2u != y_outer) return;
        sum = sum / (1.0 + exp(-sum)) * other, n /= 2u;
    }
