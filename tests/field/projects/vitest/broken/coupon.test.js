import { coupon } from "./no-such-coupon.js";

coupon();
